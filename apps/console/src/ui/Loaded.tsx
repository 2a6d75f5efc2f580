import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { wordsOf } from './words.ts'

interface Props<T> {
  query: { data: T | undefined; error: Error | null; fetchStatus: string; refetch: () => unknown }
  /** What has happened, when it cannot be loaded. */
  title: string
  /** Stands there while it loads. */
  waiting: ReactNode
  children: (data: T) => ReactNode
}

/** Something of the service, or what stands in its place: on its way, without a network, or failed. */
export function Loaded<T>({ query, title, waiting, children }: Props<T>) {
  const { data, error, fetchStatus, refetch } = query
  if (data !== undefined) return children(data)
  if (fetchStatus === 'paused') {
    return (
      <div className="state" role="status">
        <h2>You are offline</h2>
        <p>This was not loaded before. It comes by itself when you are back.</p>
      </div>
    )
  }
  if (error === null) return waiting
  return (
    <div className="state failure" role="alert">
      <h2>{title}</h2>
      <p>{wordsOf(error)}</p>
      <Button onPress={() => void refetch()}>Try again</Button>
    </div>
  )
}
