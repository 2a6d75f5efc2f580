// Checks the systemd unit with systemd's own tool, where the machine has it.
import { NOT_CHECKED, run } from './child.mjs'

const UNIT = 'deploy/resource.service'
// systemd's measure from 0 to 10; below 2 is "OK", from 5 on "medium".
const MOST_EXPOSED = 2

if (await isHere()) {
  const verify = await run('systemd-analyze', ['verify', '--man=no', UNIT])
  const security = await run(
    'systemd-analyze',
    ['security', '--offline=true', `--threshold=${MOST_EXPOSED * 10}`, UNIT],
    { quiet: true },
  )
  if (security.code !== 0) console.error(security.output)
  process.exitCode = verify.code || security.code
} else {
  console.log('systemd-analyze is not on this machine.')
  process.exitCode = NOT_CHECKED
}

function isHere(): Promise<boolean> {
  return run('systemd-analyze', ['--version'], { quiet: true }).then(
    ({ code }) => code === 0,
    () => false,
  )
}
