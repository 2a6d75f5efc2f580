// Runs the load of a scenario in a separate process: `load-process.ts SCENARIO URL [KIND]`. In the readers' process,
// sending four megabytes would block the event loop and add to the measured read latency. The first message stops the
// load; the reply contains its counts.
import type { ConcurrentLoad } from './concurrent-load.ts'

const [scenario, url = '', kind] = process.argv.slice(2)
const { load } = (await import(`./scenarios/${scenario}.ts`)) as { load: ConcurrentLoad }
const end = new AbortController()
process.once('message', () => end.abort())
const counts = await load(url, end.signal, kind)
process.send?.(counts, () => process.disconnect())
