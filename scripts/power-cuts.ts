// Some power cuts, replayed from the calls of the service, where strace is on the machine: `npm run test:torture` has more.
import { NOT_CHECKED, run } from './child.mjs'

if (await isHere()) {
  const env = { POWER_CUTS: '12', POWER_ANSWERS: '150' }
  const { code } = await run('node', ['tests/src/main.ts', 'power-cuts'], { env })
  process.exitCode = code
} else {
  console.log('strace is not on this machine.')
  process.exitCode = NOT_CHECKED
}

function isHere(): Promise<boolean> {
  return run('strace', ['-V'], { quiet: true }).then(
    ({ code }) => code === 0,
    () => false,
  )
}
