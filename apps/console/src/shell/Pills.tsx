import { Maximize2 } from 'lucide-react'
import { lazy, useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../ui/Button.tsx'
import { LazyDialog } from '../ui/LazyDialog.tsx'
import { describeWork, useWork, type Work } from '../ui/work.ts'

const WorkDialog = lazy(() => import('./WorkDialog.tsx'))

/** The progress of long work, in every view: at the bottom, on phones in the header. */
export function Pills() {
  const works = useWork()
  const [opened, open] = useState<number>()
  const shown = works.find(({ id }) => id === opened)
  const pills = works.filter(({ isCovered, total }) => isCovered !== true && total > 0)
  return (
    <>
      {pills.length > 0 && (
        // React Aria hides everything outside an open dialog from screen readers, except elements with this attribute.
        <section className="pills" aria-label="Running" data-react-aria-top-layer="true">
          {pills.map((work) => (
            <Pill key={work.id} work={work} onOpen={() => open(work.id)} />
          ))}
        </section>
      )}
      {shown !== undefined && (
        <LazyDialog>
          <WorkDialog work={shown} onClose={() => open(undefined)} />
        </LazyDialog>
      )}
    </>
  )
}

function Pill({ work, onOpen }: { work: Work; onOpen: () => void }) {
  const { title, done, total, href } = work
  const text = describeWork(work)
  const percent = Math.floor((100 * done) / total)
  const details = {
    className: 'button ghost icon small',
    'aria-label': `Show the progress of ${title}`,
    children: <Maximize2 />,
  }
  return (
    <div className="pill">
      <div className="row" role="progressbar" aria-label={title} aria-valuenow={percent} aria-valuetext={text}>
        <svg className="ring" viewBox="0 0 20 20" aria-hidden="true">
          <circle cx="10" cy="10" r="8" />
          <circle cx="10" cy="10" r="8" pathLength="100" strokeDasharray={`${percent} 100`} />
        </svg>
        <b translate="no">{title}</b> <span className="faint">{text}</span>
      </div>
      {href === undefined ? <Button {...details} onPress={onOpen} /> : <Link {...details} href={href} />}
    </div>
  )
}
