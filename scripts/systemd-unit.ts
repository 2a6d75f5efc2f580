// Checks the systemd unit with systemd-analyze, if it is installed.
import { execute, makeChecks, requireTool } from './external-checks.ts'
import { root } from './run-command.mjs'

const UNIT = 'deploy/resource.service'
// systemd's exposure level, from 0 to 100; below 20 is "OK", 50 and above is "medium".
const THRESHOLD = '--threshold=20'

await makeChecks({
  'systemd unit': async () => {
    await requireTool('systemd-analyze', '--version')
    await execute('systemd-analyze', ['verify', '--man=no', UNIT], root)
    await execute('systemd-analyze', ['security', '--offline=true', THRESHOLD, UNIT], root)
  },
})
