import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Event } from './trace.ts'

const PAGE = 4096
const SECTOR = 512
const EMPTY = Buffer.alloc(PAGE)
const NOTHING: Content = { bytes: EMPTY, version: 0 }

interface Content {
  bytes: Buffer
  /** Later ones have greater numbers. */
  version: number
}

/** A page: the content a read returns, the content guaranteed to be on disk, and later contents that may be there instead. */
interface Page {
  current: Content
  durable: Content
  others: Content[]
  isDirty: boolean
}

interface Size {
  bytes: number
  version: number
}

interface File {
  pages: Map<number, Page>
  size: Size
  durableSize: Size
  otherSizes: Size[]
}

interface Sync {
  dirty: Map<Page, Content>
  size: Size | undefined
}

interface Entry {
  name: string
  file: File | undefined
}

/**
 * A simulated disk that produces files as a power cut could leave them. A written page is durable once a sync that started
 * after the write has succeeded. Until then each sector may have any content written since. After a failed sync, Linux
 * marks the pages as clean: later syncs skip them unless they are written again. Names are durable once their folder is
 * synced.
 */
export class Disk {
  readonly #files = new Map<string, File>()
  /** The durable names; `#entries` has the later changes in order. */
  readonly #names = new Map<string, File>()
  readonly #entries: Entry[] = []
  readonly #begun = new Map<string, Sync>()
  readonly #random: () => number

  /** @param random returns 0 (inclusive) to 1 (exclusive), like Math.random */
  constructor(random: () => number) {
    this.#random = random
  }

  apply(event: Event): void {
    if (event.kind === 'write') this.#write(this.#file(event.path), event.offset, event.data)
    else if (event.kind === 'truncate') truncate(this.#file(event.path), event.size)
    else if (event.kind === 'create') this.#file(event.path)
    else if (event.kind === 'unlink') this.#unlink(event.path)
    else if (event.kind === 'sync begins') this.#beginSync(event.path, event.id)
    else if (event.kind === 'sync ends') this.#endSync(event.path, event.id, event.isDone)
  }

  /** Writes the files to `folder` in a state that a power cut at this moment could leave. */
  writeTo(folder: string): void {
    mkdirSync(folder, { recursive: true })
    const names = new Map(this.#names)
    const share = this.#persistedShare()
    const applied = Math.round(this.#entries.length * share())
    for (const { name, file } of this.#entries.slice(0, applied)) {
      if (file === undefined) names.delete(name)
      else names.set(name, file)
    }
    for (const [name, file] of names) writeFileSync(join(folder, basename(name)), this.#content(file, share))
  }

  #content(file: File, share: () => number): Buffer {
    const sizes = [file.durableSize, ...file.otherSizes]
    const { bytes: size } = sizes[Math.round((sizes.length - 1) * share())] as Size
    const content = Buffer.alloc(size)
    for (const [number, { durable, others }] of file.pages) {
      const contents = [durable, ...others]
      const isTorn = others.length > 0 && this.#random() < 0.3
      let source = contents[Math.round((contents.length - 1) * share())] as Content
      for (let at = 0; at < PAGE; at += SECTOR) {
        if (isTorn) source = contents[Math.round((contents.length - 1) * share())] as Content
        if (number * PAGE + at < size) source.bytes.copy(content, number * PAGE + at, at, at + SECTOR)
      }
    }
    return content
  }

  /** Source of the share of non-durable changes that reached the disk: always none, always all, or random. */
  #persistedShare(): () => number {
    const kind = this.#random()
    if (kind < 0.2) return () => 0
    if (kind < 0.4) return () => 1
    return this.#random
  }

  #file(path: string): File {
    let file = this.#files.get(path)
    if (file === undefined) {
      const size = { bytes: 0, version: 0 }
      file = { pages: new Map(), size, durableSize: size, otherSizes: [] }
      this.#files.set(path, file)
      this.#entries.push({ name: path, file })
    }
    return file
  }

  #unlink(path: string): void {
    this.#files.delete(path)
    this.#entries.push({ name: path, file: undefined })
  }

  #write(file: File, offset: number, data: Buffer): void {
    for (let done = 0; done < data.length; ) {
      const at = offset + done
      const within = at % PAGE
      const part = data.subarray(done, done + PAGE - within)
      const page = pageOf(file, Math.floor(at / PAGE))
      const content = Buffer.from(page.current.bytes)
      part.copy(content, within)
      change(page, content)
      done += part.length
    }
    if (offset + data.length > file.size.bytes) resize(file, offset + data.length)
  }

  #beginSync(path: string, id: string): void {
    const dirty = new Map<Page, Content>()
    const file = this.#files.get(path)
    for (const page of file?.pages.values() ?? []) if (page.isDirty) dirty.set(page, page.current)
    this.#begun.set(id, { dirty, size: file?.size })
  }

  #endSync(path: string, id: string, isDone: boolean): void {
    const { dirty, size } = this.#begun.get(id) as Sync
    this.#begun.delete(id)
    for (const [page, content] of dirty) {
      // A page written after the sync began stays dirty.
      if (page.current === content) page.isDirty = false
      // A sync that began later may have ended earlier.
      if (!isDone || content.version < page.durable.version) continue
      page.durable = content
      page.others = page.others.filter(({ version }) => version > content.version)
    }
    const file = this.#files.get(path)
    if (isDone && file !== undefined && size !== undefined && size.version >= file.durableSize.version) {
      file.durableSize = size
      file.otherSizes = file.otherSizes.filter(({ version }) => version > size.version)
    }
    if (isDone && file === undefined) this.#syncNames(path)
  }

  #syncNames(folder: string): void {
    for (const { name, file } of this.#entries.splice(0)) {
      if (dirname(name) !== folder) throw new Error(`${name} is not in ${folder}`)
      if (file === undefined) this.#names.delete(name)
      else this.#names.set(name, file)
    }
  }
}

function pageOf(file: File, number: number): Page {
  let page = file.pages.get(number)
  if (page === undefined) {
    page = { current: NOTHING, durable: NOTHING, others: [], isDirty: false }
    file.pages.set(number, page)
  }
  return page
}

function change(page: Page, bytes: Buffer): void {
  page.current = { bytes, version: page.current.version + 1 }
  page.others.push(page.current)
  page.isDirty = true
}

function truncate(file: File, size: number): void {
  for (const [number, page] of file.pages)
    if (number * PAGE >= size && page.current.bytes !== EMPTY) change(page, EMPTY)
  resize(file, size)
}

function resize(file: File, bytes: number): void {
  file.size = { bytes, version: file.size.version + 1 }
  file.otherSizes.push(file.size)
}
