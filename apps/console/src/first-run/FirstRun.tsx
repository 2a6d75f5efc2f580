import { useQuery } from '@tanstack/react-query'
import { Check, Database, KeyRound, Upload } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { resources } from '../resources/index.ts'
import { useSession } from '../session/session.ts'
import { readImported } from '../transfer/saved.ts'
import { Button } from '../ui/Button.tsx'
import { CodeTabs } from '../ui/CodeTabs.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { useAct } from '../ui/use-act.tsx'
import { useProgress } from './progress.ts'
import { firstRequests } from './requests.ts'
import { createFirstKey, useArrival, useSamples, useSampleText } from './steps.ts'

const STEPS = 4

/** What to do first with a service that has no records. It goes when everything is done, or when it is hidden. */
export default function FirstRun() {
  const [key, setKey] = useState<string>()
  const { session } = useSession()
  const isOpen = session?.name === 'anonymous'
  const isRequested = useProgress(({ isRequested }) => isRequested)
  const samples = useProgress(({ samples }) => samples)
  const { data: isImported = false } = useQuery({
    queryKey: ['imported'],
    queryFn: readImported,
    networkMode: 'always',
  })
  const done = [!isOpen, samples !== undefined, isImported, isRequested].filter(Boolean).length
  const end = () => useProgress.setState({ state: 'over' })
  return (
    <div className="page narrow">
      <div className="row page-head">
        <div>
          <h1>Welcome to your Resource Service</h1>
          <p className="soft">
            {done === 0
              ? 'It runs. Four steps to the first request; skip what you do not need.'
              : `${done} of ${STEPS} done. The overview takes this place afterwards.`}
          </p>
        </div>
        {done === STEPS && (
          <Button className="button primary" onPress={end}>
            Show the overview
          </Button>
        )}
      </div>
      <ol className="steps">
        <KeyStep isDone={!isOpen} secret={key} onCreated={setKey} />
        <SamplesStep />
        <Step
          number={3}
          isDone={isImported}
          title="Import a file"
          text="CSV, JSON or NDJSON, with a preview before anything is written."
        >
          <div className="buttons">
            {resources.map(({ noun, title }) => (
              <Link key={noun} className="button" href={`/${noun}?open=import`}>
                <Upload />
                {title}…
              </Link>
            ))}
          </div>
        </Step>
        <RequestStep isDone={isRequested} secret={isOpen ? undefined : (key ?? 'rsk_…')} />
      </ol>
      <p className="faint small-text">
        On the command line: <code translate="no">npm run -s resource -- keys create --name me --role admin</code>.{' '}
        <Button className="link" onPress={end}>
          Hide this list
        </Button>
      </p>
    </div>
  )
}

interface StepProps {
  number: number
  isDone: boolean
  title: string
  text: string
  /** The action, or what it waits for. */
  children: ReactNode
  below?: ReactNode
}

function Step({ number, isDone, title, text, children, below }: StepProps) {
  return (
    <li className={isDone ? 'done' : undefined}>
      <span className="tick">
        {isDone ? <Check /> : number}
        {isDone && <span className="hidden">Done:</span>}
      </span>
      <div>
        <h2>{title}</h2>
        <p>{text}</p>
      </div>
      {children}
      {below && <div className="full">{below}</div>}
    </li>
  )
}

interface KeyProps {
  isDone: boolean
  secret: string | undefined
  onCreated: (key: string) => void
}

function KeyStep({ isDone, secret, onCreated }: KeyProps) {
  const { failure, isBusy, act } = useAct()
  const text = isDone
    ? 'Every request needs a key now, and this page is logged in with one.'
    : 'Until then, everybody who can reach this port can read, write and delete. The key is shown once.'
  const below = secret !== undefined && (
    <>
      <div className="row secret">
        <code translate="no">{secret}</code>
        <CopyButton text={secret} label="Copy the key" className="button primary" />
      </div>
      <p role="status">This is your key. Store it now: it is not shown again.</p>
    </>
  )
  return (
    <Step number={1} isDone={isDone} title="Create an administrator key" text={text} below={below || failure}>
      {!isDone && (
        <Button
          className="button primary"
          icon={KeyRound}
          isDisabled={isBusy}
          onPress={() => void act(() => createFirstKey(onCreated))}
        >
          {isBusy ? 'Creating…' : 'Create key'}
        </Button>
      )}
    </Step>
  )
}

function SamplesStep() {
  const { isLoaded, load, remove } = useSamples()
  const text = useSampleText()
  const { failure, isBusy, act } = useAct()
  return (
    <Step
      number={2}
      isDone={isLoaded}
      title="Load sample data"
      text={`${text}. One click removes them again.`}
      below={failure}
    >
      <Button
        icon={isLoaded ? undefined : Database}
        isDisabled={isBusy}
        onPress={() => void act(isLoaded ? remove : load)}
      >
        {isLoaded ? (isBusy ? 'Removing…' : 'Remove samples') : isBusy ? 'Loading…' : 'Load samples'}
      </Button>
    </Step>
  )
}

function RequestStep({ isDone, secret }: { isDone: boolean; secret: string | undefined }) {
  useArrival()
  return (
    <Step
      number={4}
      isDone={isDone}
      title="Send the first request"
      text={`The address is filled in${secret === undefined ? '' : ', and so is a key that was just created'}. This step completes when the request arrives.`}
      below={<CodeTabs label="Language" codes={firstRequests(window.location.origin, secret)} />}
    >
      <span role="status" className="status faint small-text">
        <span className={isDone ? 'dot' : 'dot live'} />
        {isDone ? 'It has arrived' : 'Waiting for it'}
      </span>
    </Step>
  )
}
