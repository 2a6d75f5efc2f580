import { Damaged, DiskFull, DurabilityLost, FileMoved, InDoubt, ReadOnly, Unreachable } from '@resource/database'
import { expect, test } from 'vitest'
import { unavailable } from '../src/http/database-errors.ts'

test.each([
  ['an unreachable server', new Unreachable(), 'The database cannot be reached; try again', '1'],
  [
    'a write in doubt',
    new InDoubt(),
    'The database did not confirm the write, which may have been stored: only a repetition with the same Idempotency-Key is safe',
    '1',
  ],
  ['a standby', new ReadOnly('it is a standby'), 'The database accepts no writes: it is a standby', '5'],
  ['a full disk', new DiskFull(), 'The database is out of disk space: free some space on its disk', '60'],
  [
    'a moved file',
    new FileMoved(),
    'The database cannot be written, because its file was moved or replaced: restart the service',
    '60',
  ],
  [
    'a failed disk',
    new DurabilityLost(),
    'The database cannot be written, because its disk failed: check the disk and restart the service',
    '60',
  ],
  ['a damaged file', new Damaged({ cause: undefined }), 'The database is damaged: restore a backup', '60'],
])('%s is a 503 with its reason, and a Retry-After that fits', (_, error, message, seconds) => {
  expect(unavailable(error)).toMatchObject({ status: 503, message, headers: { 'Retry-After': seconds } })
})

test('an error that is not of the database’s availability is none of these', () => {
  expect(unavailable(new Error('The database is damaged'))).toBeUndefined()
})
