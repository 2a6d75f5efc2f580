import { describe, expect, test } from 'vitest'
import { engines } from '../scripts/models.ts'
import { newUser } from '../test/database.ts'
import { openDatabase } from '../test/everywhere.ts'
import { insertMany, insertOne } from '../test/rows.ts'
import { UniqueViolation } from './index.ts'
import type { PrismaModels } from './prisma.ts'

const audit = {
  shared: { actor: 'local', actor_detail: null, procedure: 'items.sell', request_id: null, address: null },
  tables: { users: { resource: 'users', shown: ['id', 'name'], secrets: [] } },
}

describe.each(engines)('on %s', (engine) => {
  test('reads return typed values, relations of models and aggregates', async () => {
    await using database = await openDatabase(engine)
    await database.write(async (tx) => {
      await insertMany(tx.users, [newUser('ada'), { ...newUser('bob'), age: 40 }])
      await insertMany(tx.items, [
        { name: 'Lamp', name_key: 'lamp', price: 2.5, category: 'light' },
        { name: 'Torch', name_key: 'torch', price: 0.25, category: 'light' },
        { name: 'Desk', name_key: 'desk', price: 90, category: null },
      ])
    })
    const prisma = await database.read.prisma()
    const created_at = new Date('2026-01-02T03:04:05.678Z')
    expect(await prisma.user.findMany({ where: { created_at: { lte: created_at }, age: null } })).toEqual([
      { id: 1, ...newUser('ada'), password_hash: null, age: null, version: 1 },
    ])
    expect(await prisma.user.aggregate({ _max: { created_at: true, age: true }, _avg: { age: true } })).toEqual({
      _max: { created_at, age: 40 },
      _avg: { age: 40 },
    })
    const groups = prisma.item.groupBy({
      by: 'category',
      _count: true,
      _sum: { price: true },
      orderBy: { category: 'desc' },
    })
    expect(await groups).toEqual(
      expect.arrayContaining([
        { category: 'light', _count: 2, _sum: { price: 2.75 } },
        { category: null, _count: 1, _sum: { price: 90 } },
      ]),
    )
    expect(await prisma.item.count({ where: { name: { contains: 'o' } } })).toBe(1)
  })

  test('inside a write the client sees its changes, and its own changes are undone with it', async () => {
    await using database = await openDatabase(engine)
    const expires_at = new Date('2030-01-01T00:00:00.000Z')
    const share = { process: 'a', minute: 1, usage: '{}' }
    await database.write(async (tx) => {
      await insertOne(tx.users, newUser('ada'))
      const prisma = await tx.prisma()
      expect(await prisma.user.count()).toBe(1)
      expect(await (await database.read.prisma()).user.count()).toBe(0)
      await prisma.rateShare.create({ data: share })
      expect(await tx.rateShares.count({ process: 'a' })).toBe(1)
    })
    const failing = database.write(async (tx) => {
      const prisma = await tx.prisma()
      await prisma.rateShare.update({ where: { process: 'a' }, data: { minute: 2 } })
      await prisma.idempotencyKey.create({
        data: { procedure: 'p', key: 'k', fingerprint: '', answer: '', created_at: expires_at },
      })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await database.read.rateShares.find({})).toMatchObject(share)
    expect(await database.read.idempotencyKeys.count({})).toBe(0)
    const twice = database.write(async (tx) => (await tx.prisma()).rateShare.create({ data: share }))
    await expect(twice).rejects.toThrow(UniqueViolation)
  })

  test('a write does not keep others waiting until the client is loaded: it runs again then', async () => {
    await using database = await openDatabase(engine)
    const done: string[] = []
    const first = database.write(async (tx) => {
      done.push('first')
      await insertOne(tx.users, newUser('ada'))
      return (await tx.prisma()).user.findFirst({ select: { name: true } })
    })
    const second = database.write(async (tx) => {
      await insertOne(tx.users, newUser('bob'))
      done.push('second')
    })
    expect([await first, await second]).toEqual([{ name: expect.stringMatching(/^(?:ada|bob)$/) }, undefined])
    await database.write(async (tx) => {
      done.push('third')
      await tx.prisma()
    })
    expect(done.toSorted()).toEqual(['first', 'first', 'second', 'third'])
    expect(await database.read.users.count({})).toBe(2)
  })

  test('writes at the same time each read in their own transaction', async () => {
    await using database = await openDatabase(engine)
    const counts = ['ada', 'bob', 'eve'].map((name) =>
      database.write(async (tx) => {
        const prisma = await tx.prisma()
        const user = await insertOne(tx.users, newUser(name))
        return (await prisma.user.findUnique({ where: { id: user.id } }))?.name
      }),
    )
    expect(await Promise.all(counts)).toEqual(['ada', 'bob', 'eve'])
  })

  test('a change of an audited model is refused with the table that audits it, and so is any change by a read', async () => {
    await using database = await openDatabase(engine)
    await database.write((tx) => insertOne(tx.users, newUser('ada')))
    const refusal =
      "Changes of users belong in the audit log, which Prisma's client does not write: use the table tx.users (insert, write)."
    const changes = [
      ({ user }: PrismaModels) => user.updateMany({ data: { age: 1 } }),
      ({ user }: PrismaModels) => user.update({ where: { id: 1 }, data: { age: 1 } }),
      ({ user }: PrismaModels) => user.create({ data: newUser('bob') }),
      ({ user }: PrismaModels) => user.delete({ where: { id: 1 } }),
    ]
    for (const change of changes) {
      const write = database.write<unknown>(async (tx) => change(await tx.prisma()), { audit })
      await expect(write).rejects.toThrow(refusal)
    }
    const log = database.write(async (tx) => (await tx.prisma()).auditEntry.deleteMany(), { audit })
    await expect(log).rejects.toThrow('Changes of auditEntries belong in the audit log')
    const reading = (await database.read.prisma()).rateShare.deleteMany()
    await expect(reading).rejects.toThrow('Database.read is read-only: use Database.write to write.')
    expect(await database.read.users.find({ id: 1 })).toMatchObject({ name: 'ada', age: null, version: 1 })
  })
})
