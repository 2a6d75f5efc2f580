import { mutation } from '@resource/openapi/contract'
import { z } from 'zod'
import { collection } from './collection.ts'
import { errorField } from './errors.ts'
import {
  conditional,
  hidden,
  idempotencyKey,
  location,
  message,
  must,
  recordId,
  stale,
  text,
  WITHOUT_NUL,
  whole,
  write,
  writeHeaders,
} from './fields.ts'
import { pageOf } from './pages.ts'

const LONGEST_PASSWORD_BYTES = 1024
const bytes = new TextEncoder()

const name = text(1, 200).meta({ examples: ['Ada Lovelace'] })
const emailRule = must('a valid e-mail address of at most 254 characters')
// RFC 5321's dot-string at a domain name of two labels or more.
const EMAIL =
  /^(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/
const email = z
  .email({ ...emailRule, pattern: EMAIL })
  .max(254, emailRule)
  .meta({ description: 'Kept as written; unique without regard to case.', examples: ['ada@example.com'] })
const role = z.enum(['admin', 'user'], must('admin or user'))
const status = z.enum(['active', 'inactive'], must('active or inactive'))
const age = whole(0, 150)
  .nullable()
  .meta({ examples: [36] })
const passwordRule = must(`text of at least 1 character and at most ${LONGEST_PASSWORD_BYTES} bytes`)
const password = z
  .string(passwordRule)
  .refine((value) => value !== '' && bytes.encode(value).byteLength <= LONGEST_PASSWORD_BYTES, passwordRule)
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    must('text without NUL characters and lone surrogates'),
  )
  .meta({
    description:
      'Stored only as an argon2id hash, never returned. A service with API keys or an identity provider asks for 8 characters or more and refuses common passwords.',
    minLength: 1,
    maxLength: LONGEST_PASSWORD_BYTES,
    pattern: WITHOUT_NUL,
    writeOnly: true,
    format: 'password',
  })

// What tells the three families of paths apart.
const main = { trailingSlash: 'significant' } as const
const simple = {
  trailingSlash: 'optional',
  params: { user_id: 'id' },
  tag: { name: 'Users (simple)', description: 'The same users: whole records, and a PUT that merges.' },
} as const
const slash = {
  trailingSlash: 'significant',
  aliases: { username: 'name' },
  tag: { name: 'Users (trailing slash)', description: 'The same users, whose lists have `username` and `email` only.' },
} as const

export const users = collection({
  noun: 'users',
  description:
    'One collection, three doors. `/api/users` is the main one; `/users` shows the whole public record and merges on PUT; `/api/users/`, with its trailing slash, lists `username` and `email` alone.',
  errorForm: errorField,
  path: '/api/users',
  fields: {
    name,
    email,
    password: hidden(password.optional()),
    role: role.default('user'),
    status: status.default('active'),
    age: age.default(null),
  },
  timestamps: true,
  replace: { name, email, role, age: age.optional() },
  changedBy: { role: 'admin', password: 'admin' },
  givenBy: { role: { admin: 'admin' } },
  filters: ['role', 'status', 'age'],
  sort: ['id', 'name', 'username', 'email', 'role', 'status', 'age', 'created_at', 'updated_at'],
  sortAliases: { username: 'name' },
  bindings: (user) => {
    // What the paths show of a user (specification 4.1).
    const summary = user.pick({ id: true, name: true, email: true, role: true }).meta({ id: 'UserSummary' })
    const detail = user
      .pick({ id: true, name: true, email: true, role: true, created_at: true })
      .meta({ id: 'UserDetail' })
    const changed = user
      .pick({ id: true, name: true, email: true, role: true, updated_at: true })
      .meta({ id: 'ChangedUser' })
    const listing = user
      .pick({ name: true, email: true })
      .transform(({ name, email }) => ({ username: name, email }))
      .pipe(z.object({ username: user.shape.name, email: user.shape.email }))
      .meta({ id: 'UserListing' })
    return {
      list: {
        ...main,
        response: pageOf(summary),
        additionalBindings: [
          {
            ...simple,
            path: '/users',
            operationId: 'simpleListUsers',
            summary: 'List whole user records',
            description: 'Every public field of each user; the same filters and sorts as at the main door.',
            response: pageOf(user),
          },
          {
            ...slash,
            path: '/api/users/',
            operationId: 'slashListUsers',
            summary: 'List user names and e-mail addresses',
            description: "`username` is a user's `name`; the same filters and sorts as at the main door.",
            response: pageOf(listing),
          },
        ],
      },
      get: {
        ...main,
        response: detail,
        additionalBindings: [
          {
            ...simple,
            path: '/users/{user_id}',
            operationId: 'simpleGetUser',
            summary: 'Get a whole user record',
            description: 'Every public field, `status` and `age` among them.',
            response: user,
          },
          {
            ...slash,
            path: '/api/users/{id}/',
            operationId: 'slashGetUser',
            summary: 'Get a user (trailing slash)',
            description: 'The same answer as without the slash.',
          },
        ],
      },
      create: {
        ...main,
        description:
          'A role left out is `user`, a status left out is `active`. A taken e-mail address is a 409. Without a JSON body: 400 `No input data provided`.',
        otherMediaType: 400,
        response: detail,
        additionalBindings: [
          {
            ...simple,
            path: '/users',
            operationId: 'simpleCreateUser',
            summary: 'Create a user, answered whole',
            response: user,
            headers: location('/users/{id}'),
          },
          {
            ...slash,
            path: '/api/users/',
            operationId: 'slashCreateUser',
            summary: 'Create a user (trailing slash)',
            description:
              'Takes the name as `name` or as `username`. Without a JSON body: 400 `No input data provided`.',
            headers: location('/api/users/{id}/'),
          },
        ],
      },
      createMany: { response: pageOf(detail) },
      replace: {
        ...main,
        description:
          '`name`, `email` and `role` are required. `age` is set if it is sent; `status` and `password` stay.',
        response: changed,
        additionalBindings: [
          {
            ...slash,
            path: '/api/users/{id}/',
            operationId: 'slashReplaceUser',
            summary: 'Replace a user (trailing slash)',
            description:
              'Takes the name as `name` or as `username`; `email` is required. `role` and `age` are set if they are sent; `status` and `password` stay.',
            optional: ['role'],
          },
        ],
      },
      update: {
        ...main,
        response: changed,
        additionalBindings: [
          {
            ...simple,
            method: 'PUT',
            path: '/users/{user_id}',
            operationId: 'simpleMergeUser',
            summary: 'Merge into a user',
            description: 'Changes the fields that are sent, although it is a PUT.',
            response: user,
          },
          {
            ...slash,
            path: '/api/users/{id}/',
            operationId: 'slashUpdateUser',
            summary: 'Update a user (trailing slash)',
            description: 'Changes the fields that are sent; takes the name as `name` or as `username`.',
          },
        ],
      },
      delete: {
        ...main,
        status: 200,
        additionalBindings: [
          {
            ...simple,
            path: '/users/{user_id}',
            operationId: 'simpleDeleteUser',
            summary: 'Delete a user, answered empty',
            description: 'As at the main door, with an empty answer.',
            status: 204,
          },
          {
            ...slash,
            path: '/api/users/{id}/',
            operationId: 'slashDeleteUser',
            summary: 'Delete a user (trailing slash)',
            description: 'As at the main door, with an empty answer.',
            status: 204,
          },
        ],
      },
    }
  },
  procedures: (versioned, user) => ({
    /** Activate or deactivate a user. Both statuses can be left for the other at any time. */
    setStatus: mutation({
      input: z.object({ id: recordId, status, ...write }),
      output: versioned,
      errors: [404, 409],
      errorData: stale,
      meta: {
        openapi: {
          ...conditional,
          method: 'PATCH',
          path: '/api/users/{id}/status',
          operationId: 'setUserStatus',
          summary: 'Activate or deactivate a user',
          description: 'Both statuses can be left for the other at any time.',
          successDescription: 'The user with the new status.',
          response: user.pick({ id: true, name: true, status: true, updated_at: true }).meta({ id: 'UserStatus' }),
          envelope: 'user',
          etag: 'version',
        },
      },
    }),

    /** Delete all users of a status. Needs `status` and takes no other filter; without it nothing is removed. */
    deleteByStatus: mutation({
      access: 'admin',
      // Strict, so that no filter is passed over: what is sent beside the status would have narrowed the removal.
      input: z.strictObject({ status, idempotency_key: idempotencyKey }),
      output: message.extend({ removed: z.int() }),
      errors: [409],
      meta: {
        openapi: {
          ...main,
          method: 'DELETE',
          path: '/api/users',
          operationId: 'deleteUsersByStatus',
          summary: 'Delete all users of a status',
          description: 'Needs `status` and takes no other filter; without it nothing is removed.',
          successDescription: 'How many users were removed.',
          response: message,
          headerParams: writeHeaders,
        },
      },
    }),
  }),
})
