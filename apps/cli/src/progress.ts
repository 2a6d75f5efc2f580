const BAR_WIDTH = 30
const LINE_EVERY = 10_000
const REDRAW_MS = 100

/** Shows progress on stderr: a bar on a terminal, otherwise a line every 10,000 records. `total` may be unknown. */
export function progress(verb: string, total: number | undefined, start = 0) {
  const { stderr } = process
  const started = Date.now()
  let drawn = 0
  let lines = Math.floor(start / LINE_EVERY)
  const text = (done: number) => {
    const rate = Math.round(((done - start) * 1000) / Math.max(1, Date.now() - started))
    const ofTotal = total === undefined ? '' : ` of ${total}`
    return `${verb} ${done}${ofTotal} (${rate} per second)`
  }
  const draw = (done: number) => {
    const share = total ? Math.min(1, done / total) : 0
    const full = Math.round(share * BAR_WIDTH)
    const bar = total === undefined ? '' : `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] `
    stderr.write(`\r\x1b[K${bar}${text(done)}`)
  }
  return {
    update(done: number) {
      if (stderr.isTTY) {
        if (Date.now() - drawn < REDRAW_MS) return
        drawn = Date.now()
        draw(done)
      } else if (Math.floor(done / LINE_EVERY) > lines) {
        lines = Math.floor(done / LINE_EVERY)
        stderr.write(`${text(done)}\n`)
      }
    },
    end(done: number) {
      if (!stderr.isTTY) return
      draw(done)
      stderr.write('\n')
    },
  }
}
