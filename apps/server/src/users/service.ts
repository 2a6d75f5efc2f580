import type { Implementation } from '@resource/contract'
import type { Database, Tables } from '@resource/database'
import type { Context } from '../context.ts'
import { checkPassword, hashPassword, hashPasswords } from '../password.ts'
import { writeOnce } from '../store/idempotency.ts'
import { deleteUser, deleteUsersByStatus, findUser, insertUser, insertUsers, listUsers, updateUser } from './store.ts'

/** The rules of users (specification 2.1, 3 and 4.1). */
export function userService(database: Database, passwordMinLength: number): Implementation<Context>['users'] {
  return {
    list: (input, { read }, shown) => listUsers(read, input, shown),

    get: ({ id }, { read }, shown) => findUser(read, id, shown),

    create: async (input, context) => {
      const { idempotency_key: _, password, ...fields } = input
      checkPassword(password, passwordMinLength, 'password')
      return writeOnce(
        database,
        context,
        'users.create',
        input,
        (tx, password_hash) => insertUser(tx, { ...fields, password_hash }),
        { isSingle: true, isSecret: password !== undefined, prepare: () => hashPassword(password) },
      )
    },

    createMany: async (input, context) => {
      const passwords = input.users.map(({ password }) => password)
      for (const [index, password] of passwords.entries()) {
        checkPassword(password, passwordMinLength, `[${index}].password`)
      }
      return writeOnce(
        database,
        context,
        'users.createMany',
        input,
        async (tx, hashes) => {
          const users = input.users.map(({ password: _, ...fields }, index) => ({
            ...fields,
            password_hash: hashes[index] ?? null,
          }))
          return { users: await insertUsers(tx, users) }
        },
        {
          isSecret: passwords.some((password) => password !== undefined),
          prepare: () => hashPasswords(passwords),
        },
      )
    },

    // Status and password stay: the contract's input has neither.
    replace: (input, context) => {
      const { id, if_version, name, email, role, age } = input
      const work = (tx: Tables) => updateUser(tx, id, if_version, { name, email, role, age })
      return writeOnce(database, context, 'users.replace', input, work, { isSingle: true })
    },

    update: async (input, context) => {
      const { id, if_version, idempotency_key: _, password, ...fields } = input
      checkPassword(password, passwordMinLength, 'password')
      return writeOnce(
        database,
        context,
        'users.update',
        input,
        (tx, password_hash) =>
          updateUser(tx, id, if_version, { ...fields, ...(password !== undefined && { password_hash }) }),
        { isSingle: true, isSecret: password !== undefined, prepare: () => hashPassword(password) },
      )
    },

    setStatus: (input, context) => {
      const { id, if_version, status } = input
      const work = (tx: Tables) => updateUser(tx, id, if_version, { status })
      return writeOnce(database, context, 'users.setStatus', input, work, { isSingle: true })
    },

    delete: (input, context) => {
      const work = async (tx: Tables) => {
        await deleteUser(tx, input.id, input.if_version)
        return { message: 'User deleted' }
      }
      return writeOnce(database, context, 'users.delete', input, work, { isSingle: true })
    },

    deleteByStatus: (input, context) =>
      writeOnce(database, context, 'users.deleteByStatus', input, async (tx) => {
        const removed = await deleteUsersByStatus(tx, input.status)
        return { removed, message: `${removed} ${input.status} ${removed === 1 ? 'user' : 'users'} removed` }
      }),
  }
}
