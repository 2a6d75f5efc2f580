import type { ComponentProps, ReactNode } from 'react'
import { Link } from 'wouter'
import { resources } from '../resources/index.ts'
import type { Resource } from '../resources/resource.ts'
import { useCount } from '../table/rows.ts'
import { Missing } from '../ui/Missing.tsx'
import { useTitle } from '../ui/title.ts'
import { Bars } from './Bars.tsx'
import { usePrices, useUserCounts } from './counts.ts'
import { PriceRanges } from './PriceRanges.tsx'

/** What there is, in numbers. */
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
          {users.data && <Bars caption="Users by role" bars={users.data.roles} />}
        </Card>
        <Card query={users} title="Users cannot be counted">
          {users.data && <Bars caption="Users by status" bars={users.data.statuses} />}
        </Card>
        <Card query={prices} title="Prices cannot be read" isWide>
          {prices.data && <PriceRanges {...prices.data} />}
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

interface CardProps {
  query: ComponentProps<typeof Missing>['query'] & { data: unknown }
  title: string
  isWide?: boolean
  children: ReactNode
}

function Card({ query, title, isWide = false, children }: CardProps) {
  return (
    <section className={isWide ? 'card wide' : 'card'}>
      {children}
      {query.data === undefined && (
        <Missing query={query} title={title}>
          <p role="status" className="waiting">
            Counting…
          </p>
        </Missing>
      )}
    </section>
  )
}
