import { createReadStream } from 'node:fs'

/** Reads the files completely, to restore pages that the kernel evicted from its page cache. */
export async function warm(files: string[]): Promise<void> {
  for (const file of files) {
    for await (const _ of createReadStream(file, { highWaterMark: 1024 * 1024 }));
  }
}
