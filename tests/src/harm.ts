// What does harm to a service, as a process of its own: `harm.ts ROW URL [KIND]`. In that of the readers, the time that it takes
// to send four megabytes would be measured as theirs. Ends on a message, with another that has its counts.
import type { Harm } from './beside.ts'

const [row, url = '', kind] = process.argv.slice(2)
const { harm } = (await import(`./rows/${row}.ts`)) as { harm: Harm }
const end = new AbortController()
process.once('message', () => end.abort())
const counts = await harm(url, end.signal, kind)
process.send?.(counts, () => process.disconnect())
