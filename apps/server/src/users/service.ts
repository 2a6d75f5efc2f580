import type { Implementation } from '@resource/contract'
import type { Database } from '@resource/database'
import type { Context } from '../context.ts'
import { checkPassword, hashPassword } from '../password.ts'
import { writeOnce } from '../store/idempotency.ts'
import { deleteUser, deleteUsersByStatus, findUser, insertUser, insertUsers, listUsers, updateUser } from './store.ts'

/** The rules of users (specification 2.1, 3 and 4.1). */
export function userService(database: Database, passwordMinLength: number): Implementation<Context>['users'] {
  return {
    list: (input) => listUsers(database.read, input),

    get: ({ id }) => findUser(database.read, id),

    create: async (input) => {
      checkPassword(input.password, passwordMinLength, 'password')
      const { idempotency_key: _, password, ...fields } = input
      const user = { ...fields, password_hash: await hashPassword(password) }
      return writeOnce(database, 'users.create', input, (tx) => insertUser(tx, user))
    },

    createMany: async (input) => {
      for (const [index, { password }] of input.users.entries()) {
        checkPassword(password, passwordMinLength, `[${index}].password`)
      }
      const users = await Promise.all(
        input.users.map(async ({ password, ...fields }) => ({
          ...fields,
          password_hash: await hashPassword(password),
        })),
      )
      return writeOnce(database, 'users.createMany', input, async (tx) => ({ users: await insertUsers(tx, users) }))
    },

    // Status and password stay: the contract's input has neither.
    replace: (input) => {
      const { id, if_version, name, email, role, age } = input
      return writeOnce(database, 'users.replace', input, (tx) =>
        updateUser(tx, id, if_version, { name, email, role, age }),
      )
    },

    update: async (input) => {
      checkPassword(input.password, passwordMinLength, 'password')
      const { id, if_version, idempotency_key: _, password, ...changes } = input
      const hashed = password === undefined ? {} : { password_hash: await hashPassword(password) }
      return writeOnce(database, 'users.update', input, (tx) =>
        updateUser(tx, id, if_version, { ...changes, ...hashed }),
      )
    },

    setStatus: (input) => {
      const { id, if_version, status } = input
      return writeOnce(database, 'users.setStatus', input, (tx) => updateUser(tx, id, if_version, { status }))
    },

    delete: (input) =>
      writeOnce(database, 'users.delete', input, async (tx) => {
        await deleteUser(tx, input.id, input.if_version)
        return { message: 'User deleted' }
      }),

    deleteByStatus: (input) =>
      writeOnce(database, 'users.deleteByStatus', input, async (tx) => {
        const removed = await deleteUsersByStatus(tx, input.status)
        return { removed, message: `${removed} ${input.status} ${removed === 1 ? 'user' : 'users'} removed` }
      }),
  }
}
