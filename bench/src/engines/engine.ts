/** A database of one contestant, filled. */
export interface Copy extends AsyncDisposable {
  url: string
  /** Takes out what was added since it was filled, so that a write leaves the dataset's size as it was. */
  trim: () => Promise<void>
  /** Brings it into memory, where it is measured. */
  warm: () => Promise<void>
}

/** Where datasets are made and copied. */
export interface Engine extends AsyncDisposable {
  name: 'sqlite' | 'postgresql'
  version: string
  /**
   * Fills a database with `rows` of each family, once.
   *
   * @throws Error when the service cannot bring such a database up
   */
  seed: (rows: number) => Promise<void>
  copy: (rows: number, name: string) => Promise<Copy>
}
