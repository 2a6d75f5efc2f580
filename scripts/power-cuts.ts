// A short run of the power-cuts scenario of `npm run test:torture`; requires strace.
import { NOT_CHECKED, run } from './run-command.mjs'

if (await isInstalled()) {
  const env = { POWER_CUTS: '12', POWER_ANSWERS: '150' }
  const { code } = await run('node', ['tests/src/main.ts', 'power-cuts'], { env })
  process.exitCode = code
} else {
  console.log('strace is not installed.')
  process.exitCode = NOT_CHECKED
}

function isInstalled(): Promise<boolean> {
  return run('strace', ['-V'], { quiet: true }).then(
    ({ code }) => code === 0,
    () => false,
  )
}
