// NestJS 12 on its default Express platform, with Prisma.
import 'reflect-metadata'
import {
  Body,
  ConflictException,
  Controller,
  Get,
  Inject,
  Module,
  NotFoundException,
  Param,
  Patch,
  Post,
  Query,
  StandardSchemaValidationPipe,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import {
  type ItemChanges,
  idText,
  itemChanges,
  type ListQuery,
  listQuery,
  type NewBook,
  type NewUser,
  newBook,
  newUsers,
} from './schemas.ts'
import { isEquipped, port } from './settings.ts'
import { prismaStore } from './stores/prisma.ts'
import type { Store } from './stores/store.ts'

const STORE = Symbol('store')

@Controller('api/users')
class UsersController {
  private readonly store: Store

  constructor(@Inject(STORE) store: Store) {
    this.store = store
  }

  @Get(':id')
  async get(@Param('id', { schema: idText }) userId: number) {
    const user = await this.store.findUser(userId)
    if (user === undefined) throw new NotFoundException('User not found')
    const { id, name, email, role, created_at } = user
    return { id, name, email, role, created_at }
  }

  @Get()
  list(@Query({ schema: listQuery }) query: ListQuery) {
    return this.store.listUsers(query)
  }

  @Post('bulk')
  async createMany(@Body({ schema: newUsers }) input: NewUser[]) {
    const users = await this.store.insertUsers(input)
    if (users === undefined) throw new ConflictException('An e-mail address is in use')
    return users
  }
}

@Controller('books')
class BooksController {
  private readonly store: Store

  constructor(@Inject(STORE) store: Store) {
    this.store = store
  }

  @Post()
  create(@Body({ schema: newBook }) book: NewBook) {
    return this.store.insertBook(book)
  }
}

@Controller('items')
class ItemsController {
  private readonly store: Store

  constructor(@Inject(STORE) store: Store) {
    this.store = store
  }

  @Patch(':item_id')
  async update(@Param('item_id', { schema: idText }) id: number, @Body({ schema: itemChanges }) changes: ItemChanges) {
    const item = await this.store.updateItem(id, changes)
    if (item === undefined) throw new NotFoundException('Item not found')
    return item
  }
}

@Module({
  controllers: [UsersController, BooksController, ItemsController],
  providers: [{ provide: STORE, useFactory: prismaStore }],
})
class AppModule {}

const equipment = isEquipped ? await import('./equipment/nest.ts') : undefined
const app = await NestFactory.create<NestExpressApplication>(equipment?.withEquipment(AppModule) ?? AppModule)
equipment?.equip(app)
app.useGlobalPipes(new StandardSchemaValidationPipe())
app.useBodyParser('json', { limit: '1mb' })
await app.listen(port, '127.0.0.1')
