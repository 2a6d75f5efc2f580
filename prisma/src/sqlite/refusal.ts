import { isPostgresUrl } from '../postgres/url.ts'
import { databaseFile } from './file.ts'

/** A backup, restore or check was refused; nothing was changed. */
export class BackupRefused extends Error {
  /**
   * `unsupported`: not a SQLite file, or source and target are the same file. `exists`: the target exists and `replace` is
   * not set. `unusable`: the file is damaged, or belongs to another program or a newer version of this one.
   */
  readonly fault: 'unsupported' | 'missing' | 'exists' | 'in use' | 'unusable'

  constructor(fault: BackupRefused['fault'], message: string) {
    super(message)
    this.fault = fault
  }
}

/** @throws BackupRefused unless a URL names a SQLite file */
export function sqliteFile(url: string): string {
  if (isPostgresUrl(url)) {
    throw new BackupRefused(
      'unsupported',
      'Only SQLite files are supported. For PostgreSQL use pg_dump and pg_restore.',
    )
  }
  try {
    return databaseFile(url)
  } catch (error) {
    throw new BackupRefused('unsupported', (error as Error).message)
  }
}
