import { type Contract, contract } from '@resource/contract'
import { type Database, isBusy, Unreachable } from '@resource/database'
import { implement, Problem } from '@resource/openapi'
import { bookService } from './books/service.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { itemService } from './items/service.ts'
import { userService } from './users/service.ts'

/** Every procedure of the contract with its service behind it. */
export function createOperations(database: Database, config: Config) {
  return implement<Contract, Context>(
    contract,
    {
      users: userService(database, config.PASSWORD_MIN_LENGTH),
      books: bookService(database),
      items: itemService(database),
    },
    unavailable,
  )
}

function unavailable(error: unknown): Problem | undefined {
  if (!isBusy(error)) return undefined
  const trouble = error instanceof Unreachable ? 'cannot be reached' : 'is busy'
  return new Problem(503, `The database ${trouble}; try again`, { headers: { 'Retry-After': '1' }, cause: error })
}
