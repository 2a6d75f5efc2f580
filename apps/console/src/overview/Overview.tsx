import type { ComponentProps } from 'react'
import { Link } from 'wouter'
import { resources } from '../resources/index.ts'
import type { Resource } from '../resources/resource.ts'
import { useCount } from '../table/rows.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { useTitle } from '../ui/title.ts'
import { Bars } from './Bars.tsx'
import { usePrices, useUserCounts } from './counts.ts'
import { PriceRanges } from './PriceRanges.tsx'

/** Counts and prices of all records. */
export function Overview() {
  useTitle('Overview')
  const users = useUserCounts()
  const prices = usePrices()
  return (
    <div className="page">
      <div className="title">
        <h1>Overview</h1>
      </div>
      <ul className="totals">
        {resources.map((resource) => (
          <Total key={resource.noun} resource={resource} />
        ))}
      </ul>
      <div className="cards">
        <Card query={users} title="Users cannot be counted">
          {({ roles }) => <Bars caption="Users by role" bars={roles} />}
        </Card>
        <Card query={users} title="Users cannot be counted">
          {({ statuses }) => <Bars caption="Users by status" bars={statuses} />}
        </Card>
        <Card query={prices} title="Prices cannot be loaded" isWide>
          {(ranges) => <PriceRanges {...ranges} />}
        </Card>
      </div>
    </div>
  )
}

function Total({ resource }: { resource: Resource }) {
  const { data, error } = useCount(resource, {})
  return (
    <li>
      <Link href={`/${resource.noun}`}>
        <strong>{data?.toLocaleString('en') ?? (error === null ? '…' : '?')}</strong> <span>{resource.many}</span>
      </Link>
    </li>
  )
}

type CardProps<T> = Omit<ComponentProps<typeof Loaded<T>>, 'waiting'> & { isWide?: boolean }

function Card<T>({ isWide = false, ...loaded }: CardProps<T>) {
  return (
    <section className={isWide ? 'card wide' : 'card'}>
      <Loaded
        {...loaded}
        waiting={
          <p role="status" className="waiting">
            Counting…
          </p>
        }
      />
    </section>
  )
}
