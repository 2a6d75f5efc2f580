import { mutation } from '@resource/openapi/contract'
import { z } from 'zod'
import { bind, collection, extend } from './collection.ts'
import { errorField } from './errors.ts'
import {
  conditional,
  hasFewMarks,
  hidden,
  location,
  marksRule,
  message,
  must,
  nfc,
  recordId,
  stale,
  text,
  WITHOUT_NUL,
  whole,
  write,
} from './fields.ts'
import { pageOf } from './pages.ts'

const MAX_PASSWORD_BYTES = 1024
const bytes = new TextEncoder()

const name = text(1, 200).meta({ examples: ['Ada Lovelace'] })
const emailRule = must('a valid e-mail address of at most 254 characters')
// An RFC 5321 dot-string, `@`, and a domain name of at least two labels.
const EMAIL =
  /^(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/
const email = z
  .email({ ...emailRule, pattern: EMAIL })
  .max(254, emailRule)
  .meta({ description: 'Stored as written; unique, ignoring case.', examples: ['ada@example.com'] })
const role = z.enum(['admin', 'user'], must('admin or user'))
const status = z.enum(['active', 'inactive'], must('active or inactive'))
const age = whole(0, 150)
  .nullable()
  .meta({ examples: [36] })
// True of every service; some require more characters.
const passwordRule = must(`non-empty text of at most ${MAX_PASSWORD_BYTES} bytes`)
const password = z
  .string(passwordRule)
  // Two keyboards may compose the same accent in different ways (RFC 8265, OpaqueString).
  .overwrite((value) => nfc(value, MAX_PASSWORD_BYTES))
  .refine((value) => value !== '' && bytes.encode(value).byteLength <= MAX_PASSWORD_BYTES, {
    ...passwordRule,
    abort: true,
  })
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    must('text without NUL characters and lone surrogates'),
  )
  .refine(hasFewMarks, marksRule)
  .meta({
    description: `At most ${MAX_PASSWORD_BYTES} bytes in UTF-8. Stored only as an argon2id hash and never returned. A service with API keys or an identity provider requires at least 8 characters and rejects common passwords.`,
    minLength: 1,
    maxLength: MAX_PASSWORD_BYTES,
    pattern: WITHOUT_NUL,
    writeOnly: true,
    format: 'password',
  })

// The differences between the main API, the simple API and the trailing-slash API.
const main = { trailingSlash: 'significant' } as const
const simple = {
  trailingSlash: 'optional',
  params: { user_id: 'id' },
  tag: { name: 'Users (simple)', description: 'The simple API: full user records, and a PUT that merges.' },
} as const
const slash = {
  trailingSlash: 'significant',
  aliases: { username: 'name' },
  tag: {
    name: 'Users (trailing slash)',
    description: 'The trailing-slash API: lists return only `username` and `email`.',
  },
} as const

const declared = collection({
  noun: 'users',
  description:
    'One collection of users, available through three APIs. The main API is `/api/users`. The simple API, `/users`, returns all public fields, and its PUT merges. The trailing-slash API, `/api/users/`, lists only `username` and `email`.',
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
  fieldRoles: { role: 'admin', password: 'admin' },
  valueRoles: { role: { admin: 'admin' } },
  filters: [
    'role',
    'status',
    'age',
    'age_gte',
    'age_lte',
    'name_contains',
    'email_contains',
    'created_at_gte',
    'created_at_lt',
  ],
  search: ['name', 'email'],
  groups: ['role', 'status'],
  measures: ['age'],
  keys: ['email'],
  sort: ['id', 'name', 'username', 'email', 'role', 'status', 'age', 'created_at', 'updated_at'],
  sortAliases: { username: 'name' },
})

const { record: user, versioned } = declared

// The fields in the responses of each path (API rules U1 to U9, T1 to T6).
const summary = user.pick({ id: true, name: true, email: true, role: true }).meta({ id: 'UserSummary' })
const detail = user.pick({ id: true, name: true, email: true, role: true, created_at: true }).meta({ id: 'UserDetail' })
const changed = user
  .pick({ id: true, name: true, email: true, role: true, updated_at: true })
  .meta({ id: 'ChangedUser' })
const listing = user
  .pick({ name: true, email: true })
  .transform(({ name, email }) => ({ username: name, email }))
  .pipe(z.object({ username: user.shape.name, email: user.shape.email }))
  .meta({ id: 'UserListing' })

const bound = bind(declared, {
  list: {
    ...main,
    response: pageOf(summary),
    additionalBindings: [
      {
        ...simple,
        path: '/users',
        operationId: 'simpleListUsers',
        summary: 'List full user records',
        description: 'Returns all public fields of each user. Filters and sort orders are the same as in the main API.',
        response: pageOf(user),
      },
      {
        ...slash,
        path: '/api/users/',
        operationId: 'slashListUsers',
        summary: 'List user names and e-mail addresses',
        description: '`username` is the `name` of the user. Filters and sort orders are the same as in the main API.',
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
        summary: 'Get a full user record',
        description: 'Returns all public fields, including `status` and `age`.',
        response: user,
      },
      {
        ...slash,
        path: '/api/users/{id}/',
        operationId: 'slashGetUser',
        summary: 'Get a user (trailing-slash API)',
        description: 'Returns the same response as the main API.',
      },
    ],
  },
  create: {
    ...main,
    description:
      '`role` defaults to `user` and `status` to `active`. An e-mail address that is already taken gets a 409. A request without a JSON body gets a 400: `No input data provided`.',
    otherMediaType: 400,
    response: detail,
    additionalBindings: [
      {
        ...simple,
        path: '/users',
        operationId: 'simpleCreateUser',
        summary: 'Create a user (simple API)',
        response: user,
        headers: location('/users/{id}'),
      },
      {
        ...slash,
        path: '/api/users/',
        operationId: 'slashCreateUser',
        summary: 'Create a user (trailing-slash API)',
        description:
          'Accepts the name as `name` or `username`. A request without a JSON body gets a 400: `No input data provided`.',
        headers: location('/api/users/{id}/'),
      },
    ],
  },
  createMany: { response: pageOf(detail) },
  updateWhere: main,
  deleteWhere: {
    ...main,
    operationId: 'deleteUsersByStatus',
    summary: 'Delete users by status',
    description: 'Requires `status`, which other filters narrow. Without `id_in` it requires the role `admin`.',
    response: message,
    fields: { status },
  },
  replace: {
    ...main,
    description:
      '`name`, `email` and `role` are required. `age` changes only if it is sent. `status` and `password` do not change.',
    response: changed,
    additionalBindings: [
      {
        ...slash,
        path: '/api/users/{id}/',
        operationId: 'slashReplaceUser',
        summary: 'Replace a user (trailing-slash API)',
        description:
          'The name, as `name` or `username`, and `email` are required. `role` and `age` change only if they are sent. `status` and `password` do not change.',
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
        summary: 'Update a user (simple API)',
        description: 'Changes only the fields that are sent: this PUT merges.',
        response: user,
      },
      {
        ...slash,
        path: '/api/users/{id}/',
        operationId: 'slashUpdateUser',
        summary: 'Update a user (trailing-slash API)',
        description: 'Changes only the fields that are sent. Accepts the name as `name` or `username`.',
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
        summary: 'Delete a user (simple API)',
        description: 'The same as in the main API, but with an empty response.',
        status: 204,
      },
      {
        ...slash,
        path: '/api/users/{id}/',
        operationId: 'slashDeleteUser',
        summary: 'Delete a user (trailing-slash API)',
        description: 'The same as in the main API, but with an empty response.',
        status: 204,
      },
    ],
  },
})

export const users = extend(bound, {
  setStatus: mutation({
    access: 'writer',
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
        description: 'A user can change between the two statuses at any time.',
        successDescription: 'The user with the new status.',
        response: user.pick({ id: true, name: true, status: true, updated_at: true }).meta({ id: 'UserWithStatus' }),
        envelope: 'user',
        etag: 'version',
      },
    },
  }),
})
