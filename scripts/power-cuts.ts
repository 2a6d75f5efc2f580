// A short run of the power-cuts scenario of `npm run test:torture`; requires strace.
import { makeChecks, requireTool } from './external-checks.ts'
import { run } from './run-command.mjs'

await makeChecks({
  'power cuts': async () => {
    await requireTool('strace', '-V')
    const env = { POWER_CUTS: '12', POWER_ANSWERS: '150' }
    const { code } = await run('node', ['tests/src/main.ts', 'power-cuts'], { env })
    if (code !== 0) throw new Error(`exit code ${code}`)
  },
})
