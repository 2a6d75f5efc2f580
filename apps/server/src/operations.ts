import { type Contract, contract } from '@resource/contract'
import type { Database } from '@resource/database'
import { implement, type Operation } from '@resource/openapi'
import { authorize } from './access/caller.ts'
import { auditService } from './audit/service.ts'
import { bookService } from './books/service.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { itemService } from './items/service.ts'
import { keyService } from './keys/service.ts'
import { unavailable } from './store/unavailable.ts'
import { userService } from './users/service.ts'

type Call = Operation<Context>['call']

/**
 * Every procedure of the contract with its service behind it.
 *
 * @param observe puts something around the call of each
 */
export function createOperations(
  database: Database,
  config: Config,
  observe: (procedure: string, call: Call) => Call = (_procedure, call) => call,
) {
  return implement<Contract, Context>(
    contract,
    {
      users: userService(database, config.PASSWORD_MIN_LENGTH),
      books: bookService(database),
      items: itemService(database),
      keys: keyService(database),
      audit: auditService(),
    },
    { translate: unavailable, authorize, observe },
  )
}
