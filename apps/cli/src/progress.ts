import { isTalkative } from './output.ts'

const BAR_WIDTH = 30
const LINE_EVERY = 10_000
const REDRAW_MS = 100
// Earlier, the estimate would jump.
const ESTIMATE_AFTER_MS = 1000

/** Shows progress on stderr: a bar on a terminal, otherwise a line every 10,000 records. `total` may be unknown. */
export function progress(verb: string, total: number | undefined, start = 0) {
  const { stderr } = process
  const isShown = isTalkative()
  const started = performance.now()
  let drawn = 0
  let last = start
  let lines = Math.floor(start / LINE_EVERY)
  const text = (done: number) => {
    const elapsedMs = Math.max(1, performance.now() - started)
    const perMs = (done - start) / elapsedMs
    const ofTotal = total === undefined ? '' : ` of ${total}`
    const isEstimated = total !== undefined && done < total && perMs > 0 && elapsedMs > ESTIMATE_AFTER_MS
    const left = isEstimated ? `, ${duration((total - done) / perMs)} left` : ''
    return `${verb} ${done}${ofTotal} (${Math.round(perMs * 1000)} per second${left})`
  }
  const draw = (done: number) => {
    const share = total ? Math.min(1, done / total) : 0
    const full = Math.round(share * BAR_WIDTH)
    const bar = total === undefined ? '' : `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] `
    stderr.write(`\r\x1b[K${bar}${text(done)}`)
  }
  return {
    /** The number at the last update. */
    get done() {
      return last
    },
    update(done: number) {
      last = done
      if (!isShown) return
      if (stderr.isTTY) {
        if (performance.now() - drawn < REDRAW_MS) return
        drawn = performance.now()
        draw(done)
      } else if (Math.floor(done / LINE_EVERY) > lines) {
        lines = Math.floor(done / LINE_EVERY)
        stderr.write(`${text(done)}\n`)
      }
    },
    end(done = last) {
      if (!isShown || !stderr.isTTY) return
      draw(done)
      stderr.write('\n')
    },
  }
}

/** `45 s`, `3 min`, `2 h 5 min` */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
