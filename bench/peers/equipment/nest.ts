import type { DynamicModule, Type } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'
import { Logger, LoggerModule } from 'nestjs-pino'
import { middleware } from './express.ts'
import { REQUESTS, WINDOW_MS } from './limits.ts'
import { httpLogOptions } from './log.ts'

class EquippedModule {}

/** Adds logging and a rate limit to the module. */
export function withEquipment(module: Type): DynamicModule {
  return {
    module: EquippedModule,
    imports: [
      module,
      LoggerModule.forRoot({ pinoHttp: httpLogOptions }),
      ThrottlerModule.forRoot([{ limit: REQUESTS, ttl: WINDOW_MS }]),
    ],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  }
}

export function equip(app: NestExpressApplication): void {
  app.useLogger(app.get(Logger))
  app.use(middleware)
}
