const BAR_WIDTH = 30
const LINE_EVERY = 10_000
const REDRAW_MS = 100

/** Progress on stderr: a bar on a terminal, else a plain line every 10,000 records. `total` may be unknown. */
export function progress(verb: string, total: number | undefined, begin = 0) {
  const { stderr } = process
  const started = Date.now()
  let drawn = 0
  let lines = Math.floor(begin / LINE_EVERY)
  const text = (done: number) => {
    const rate = Math.round(((done - begin) * 1000) / Math.max(1, Date.now() - started))
    const most = total === undefined ? '' : ` of ${total}`
    return `${verb} ${done}${most} (${rate} a second)`
  }
  const draw = (done: number) => {
    const share = total ? Math.min(1, done / total) : 0
    const full = Math.round(share * BAR_WIDTH)
    const bar = total === undefined ? '' : `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] `
    stderr.write(`\r\x1b[K${bar}${text(done)}`)
  }
  return {
    at(done: number) {
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
