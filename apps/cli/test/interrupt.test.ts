import { expect, test, vi } from 'vitest'
import { onInterrupt } from '../src/interrupt.ts'
import { setOutputMode } from '../src/output.ts'

test('the first Ctrl-C stops after the step, whatever forwards it twice; the second one aborts the step', () => {
  // An earlier test may have set it.
  setOutputMode({ json: false, quiet: false })
  vi.useFakeTimers({ now: 0 })
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const before = process.listeners('SIGINT').length
  const interrupt = onInterrupt()
  const press = process.listeners('SIGINT').at(-1) as () => void
  const state = () => [interrupt.requested, interrupt.stop.aborted, interrupt.signal.aborted]
  expect(state()).toEqual([false, false, false])
  press()
  expect(state()).toEqual([true, true, false])
  vi.advanceTimersByTime(300)
  press()
  expect(state()).toEqual([true, true, false])
  vi.advanceTimersByTime(1)
  press()
  expect(state()).toEqual([true, true, true])
  expect(stderr.mock.calls).toEqual([['Stopping after the current step. Press Ctrl-C again to stop now.\n']])
  interrupt[Symbol.dispose]()
  expect(process.listeners('SIGINT')).toHaveLength(before)
  vi.restoreAllMocks()
  vi.useRealTimers()
})
