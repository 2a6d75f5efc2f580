import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { calls, type Summary } from '../resources/calls.ts'
import { resources } from '../resources/index.ts'
import type { Column, Resource } from '../resources/resource.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { useTitle } from '../ui/title.ts'
import { Groups, SHOWN } from './Groups.tsx'

/** The number of records of each noun, and its groups. */
export function Overview() {
  useTitle('Overview')
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
        {resources.flatMap((resource) =>
          resource.groups.map((group) => (
            <Card key={`${resource.noun}-${group.field}`} resource={resource} group={group} />
          )),
        )}
      </div>
    </div>
  )
}

function Total({ resource }: { resource: Resource }) {
  const { data, error } = useSummaries(resource, {})
  const count = data?.summaries[0]?.count
  return (
    <li>
      <Link href={`/${resource.noun}`}>
        <strong>{count?.toLocaleString('en') ?? (error === null ? '…' : '?')}</strong> <span>{resource.many}</span>
      </Link>
    </li>
  )
}

function Card({ resource, group }: { resource: Resource; group: Column }) {
  const [measure] = resource.measures
  // One more than are shown.
  const query = useSummaries(resource, { by: group.field, limit: SHOWN + 1, ...(measure && { of: measure.field }) })
  const caption = `${resource.title} by ${group.label.toLowerCase()}`
  return (
    <section className="card">
      <Loaded query={query} title={`${caption} cannot be loaded`} waiting="Counting…">
        {({ summaries, as_of }) => (
          <Groups
            caption={caption}
            resource={resource}
            group={group}
            measure={measure}
            summaries={summaries}
            asOf={as_of}
          />
        )}
      </Loaded>
    </section>
  )
}

function useSummaries({ noun }: Resource, input: object) {
  return useQuery<{ summaries: Summary[]; as_of: string }>({
    queryKey: [noun, 'summaries', input],
    queryFn: ({ signal }) => calls(noun).summarize.query(input, { signal }),
  })
}
