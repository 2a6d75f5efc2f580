import { type ReactNode, useState } from 'react'
import { FailedLine } from './FailedLine.tsx'
import { errorMessage } from './format.ts'

/** Carries out one action at a time, and shows why it failed. */
export function useAct() {
  const [failure, setFailure] = useState<ReactNode>(null)
  const [isBusy, setBusy] = useState(false)
  const act = async (work: () => Promise<unknown>) => {
    if (isBusy) return
    setBusy(true)
    setFailure(null)
    await work().catch((error) => setFailure(<FailedLine>{errorMessage(error)}</FailedLine>))
    setBusy(false)
  }
  return { failure, isBusy, act }
}
