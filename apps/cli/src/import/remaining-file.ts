import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { type Format, type RemainingRow, remainingText } from '@resource/import'
import { invalid } from '../failures.ts'
import { log } from '../output.ts'

/** The content that an import has written to its file of remaining rows. */
export interface Written {
  bytes: number
  /** SHA-256. */
  digest: string
}

/**
 * The file of the rows that were not imported, to be corrected and imported: CSV for a CSV import, NDJSON otherwise.
 * Only its owner can read it, because the rows may contain passwords.
 *
 * @param delimiter of the imported CSV file
 * @param written by the interrupted run; a file that is not there any more begins again
 * @param keep bytes of `written` that stay: the rows after them are sent now
 * @throws Failure if the content is not that of the interrupted run
 */
export async function openRemainingFile(
  input: string,
  format: Format,
  delimiter: string,
  written: Written,
  keep: number,
) {
  const path = `${input}.remaining.${format === 'csv' ? 'csv' : 'ndjson'}`
  const isThere = written.bytes > 0 && existsSync(path)
  if (isThere && (await hashOf(path, written.bytes)).digest('hex') !== written.digest) {
    throw invalid(
      `${path} has changed since the import stopped. To resume, rename it and repeat the command. The rows that failed ` +
        'so far stay in the renamed file; the import continues with the rows that were not sent',
    )
  }
  let bytes = isThere ? keep : 0
  const hash = await hashOf(path, bytes)
  return {
    path,
    get written(): Written {
      return { bytes, digest: hash.copy().digest('hex') }
    },
    add(remaining: RemainingRow[]): void {
      if (remaining.length === 0) return
      const text = remainingText(remaining, format, { delimiter, isBegun: bytes > 0 })
      // At a position, because another process that imports the same file writes the same rows there.
      const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
      try {
        writeFully(file, Buffer.from(text), bytes)
      } finally {
        closeSync(file)
      }
      hash.update(text)
      bytes += Buffer.byteLength(text)
    },
    /** Removes what follows the written rows: those that are sent again, or were written by a run that was killed. */
    truncate(): void {
      if (bytes === 0) rmSync(path, { force: true })
      else if (existsSync(path)) truncateSync(path, bytes)
    },
    /** Renames the file of an earlier import, which may be the only one with these rows. */
    setAside(): void {
      if (!existsSync(path)) return
      const name = (n: number) => path.replace(/(?=\.\w+$)/, `.${n}`)
      let n = 1
      while (existsSync(name(n))) n++
      renameSync(path, name(n))
      log(`${path} of an earlier import is now ${name(n)}`)
    },
  }
}

async function hashOf(path: string, bytes: number): Promise<Hash> {
  const hash = createHash('sha256')
  if (bytes > 0) for await (const part of createReadStream(path, { end: bytes - 1 })) hash.update(part)
  return hash
}

// A single call may write a part, such as what a disk that is almost full can hold.
function writeFully(file: number, data: Buffer, position: number): void {
  for (let done = 0; done < data.length; ) done += writeSync(file, data, done, data.length - done, position + done)
}
