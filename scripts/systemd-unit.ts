// Checks the systemd unit with systemd-analyze, if it is installed.
import { NOT_CHECKED, run } from './run-command.mjs'

const UNIT = 'deploy/resource.service'
// systemd's exposure level, from 0 to 10; below 2 is "OK", 5 and above is "medium".
const MAX_EXPOSURE = 2

if (await isInstalled()) {
  const verify = await run('systemd-analyze', ['verify', '--man=no', UNIT])
  const security = await run(
    'systemd-analyze',
    ['security', '--offline=true', `--threshold=${MAX_EXPOSURE * 10}`, UNIT],
    { quiet: true },
  )
  if (security.code !== 0) console.error(security.output)
  process.exitCode = verify.code || security.code
} else {
  console.log('systemd-analyze is not installed.')
  process.exitCode = NOT_CHECKED
}

function isInstalled(): Promise<boolean> {
  return run('systemd-analyze', ['--version'], { quiet: true }).then(
    ({ code }) => code === 0,
    () => false,
  )
}
