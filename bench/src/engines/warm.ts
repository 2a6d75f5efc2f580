import { createReadStream } from 'node:fs'

/** Reads files through, so that what the kernel has put out of memory since they were last read is there again. */
export async function warm(files: string[]): Promise<void> {
  for (const file of files) {
    for await (const _ of createReadStream(file, { highWaterMark: 1024 * 1024 }));
  }
}
