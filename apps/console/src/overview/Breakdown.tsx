import { useState } from 'react'
import { Link } from 'wouter'
import type { Summary } from '../resources/calls.ts'
import { resources } from '../resources/index.ts'
import type { Column, Resource } from '../resources/resource.ts'
import { useSummaries } from '../resources/summaries.ts'
import { Value } from '../resources/Value.tsx'
import { formatNumber } from '../resources/value-text.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { Select } from '../ui/Select.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'

/** The number of groups that the page has room for. */
const SHOWN = 8
/** The number of groups that are counted. */
const COUNTED = 100

interface Choice {
  resource: Resource
  /** The field that the records are grouped by. */
  group: Column
  title: string
}

const CHOICES: Choice[] = resources
  .toReversed()
  .flatMap((resource) =>
    resource.groups.map((group) => ({ resource, group, title: `${resource.title} by ${group.label.toLowerCase()}` })),
  )

/** The records of one noun by the values of a field, the most frequent first. */
export function Breakdown() {
  const [shown, show] = useState(CHOICES[0]?.title)
  const choice = CHOICES.find(({ title }) => title === shown)
  if (choice === undefined) return null
  return (
    <section aria-labelledby="breakdown">
      <div className="row section-head">
        <h2 id="breakdown">Breakdown</h2>
        <Select aria-label="Breakdown" value={shown} options={CHOICES.map(({ title }) => title)} onChange={show} />
      </div>
      <Chosen key={shown} {...choice} />
    </section>
  )
}

function Chosen({ resource, group, title }: Choice) {
  const [measure] = resource.measures
  const input = { by: group.field, limit: COUNTED, ...(measure && { of: measure.field }) }
  const query = useSummaries(resource.noun, input)
  return (
    <Loaded
      query={query}
      title={`${title} cannot be loaded`}
      waiting={<Skeleton className="of-shares" label="Counting…" lines={SHOWN + 1} />}
    >
      {({ summaries }) => <Shares resource={resource} group={group} title={title} summaries={summaries} />}
    </Loaded>
  )
}

/** A bar lies behind the words of each group. Screen readers read a table. */
function Shares({ resource, group, title, summaries }: Choice & { summaries: Summary[] }) {
  const [measure] = resource.measures
  // Records without a value are no group of their own.
  const shown = summaries.slice(0, SHOWN).toSorted((a, b) => Number(a.value === null) - Number(b.value === null))
  const largest = Math.max(1, ...shown.map(({ count }) => count))
  const decimals = Math.max(1, measure?.decimals ?? 0)
  if (shown.length === 0) return <p className="faint">No {resource.many} yet, so there is nothing to count.</p>
  return (
    <>
      <table className={measure === undefined ? 'shares' : 'shares measured'}>
        <caption className="hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{group.label}</th>
            {measure !== undefined && <th scope="col">Mean {measure.label.toLowerCase()}</th>}
            <th scope="col">{resource.title}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ value, count, mean }) => (
            <tr key={JSON.stringify(value)}>
              <th scope="row" className="row">
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(100 * count) / largest} height="1" />
                </svg>
                <GroupLink resource={resource} group={group} value={value} />
              </th>
              {measure !== undefined && (
                <td translate="no">
                  <Mean
                    text={mean === null ? '–' : formatNumber(mean, decimals, decimals)}
                    href={value === null ? undefined : `${filtered(resource, group, value)}&sort=${measure.field}_desc`}
                  />
                </td>
              )}
              <td translate="no">{count.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {summaries.length > SHOWN && (
        <p className="after faint small-text">
          The {SHOWN} largest of {summaries.length < COUNTED ? summaries.length : `${COUNTED} or more`}.{' '}
          <Link href={`/${resource.noun}?sort=${group.field}_asc`}>All {resource.many}</Link>
        </p>
      )}
    </>
  )
}

/** It leads to the records of the group, with the highest figure first. */
function Mean({ text, href }: { text: string; href: string | undefined }) {
  if (href === undefined) return text
  return (
    <Link href={href} title="Highest first">
      {text}
    </Link>
  )
}

function GroupLink({ resource, group, value }: Pick<Choice, 'resource' | 'group'> & Pick<Summary, 'value'>) {
  // No filter finds the records without a value, but in ascending order they are the first.
  const sorted = group.isSortable ? `/${resource.noun}?sort=${group.field}_asc` : undefined
  const href = value === null ? sorted : filtered(resource, group, value)
  const text = <Value column={{ ...group, kind: 'text' }} value={value} />
  return href === undefined ? text : <Link href={href}>{text}</Link>
}

function filtered({ noun }: Resource, { field }: Column, value: string): string {
  return `/${noun}?${new URLSearchParams({ [field]: value })}`
}
