// Checks the systemd unit with systemd-analyze, and the Kubernetes manifest against the schemas of Kubernetes.
import { join } from 'node:path'
import { createVenv, execute, makeChecks, requireTool } from './external-checks.ts'
import { root } from './run-command.mjs'

const UNIT = 'deploy/resource.service'
// systemd's exposure level, from 0 to 100; below 20 is "OK", 50 and above is "medium".
const THRESHOLD = '--threshold=20'
// Its version is the newest of Kubernetes whose schemas it contains.
const KUBERNETES_VALIDATE = '1.37.0'

await makeChecks({
  'systemd unit': async () => {
    await requireTool('systemd-analyze', '--version')
    await execute('systemd-analyze', ['verify', '--man=no', UNIT], root)
    await execute('systemd-analyze', ['security', '--offline=true', THRESHOLD, UNIT], root)
  },
  'Kubernetes manifest': async () => {
    await requireTool('python3', '--version')
    const folder = join(root, 'node_modules', '.cache', 'kubernetes-validate')
    const python = await createVenv(folder, `kubernetes-validate==${KUBERNETES_VALIDATE}`)
    await execute(python, ['-m', 'kubernetes_validate', '--strict', 'deploy/kubernetes.yaml'], root)
  },
})
