/** A contestant's copy of a dataset. */
export interface Copy extends AsyncDisposable {
  url: string
  /** Deletes the rows inserted since the copy was made, to keep the size of the dataset constant. */
  trim: () => Promise<void>
  query: (sql: string) => Promise<object[]>
  /** Reads the copy into the kernel's page cache. */
  warm: () => Promise<void>
}

/** A database engine that creates and copies datasets. */
export interface Engine extends AsyncDisposable {
  name: 'sqlite' | 'postgresql'
  version: string
  /**
   * Creates the dataset with `rows` records of each resource.
   *
   * @throws Error when the service cannot create such a database
   */
  seed: (rows: number) => Promise<void>
  copy: (rows: number, name: string) => Promise<Copy>
}
