import { Component, type ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'

interface Props {
  children: ReactNode
}

/** Stands in for a view that cannot be drawn, as when the service was updated and a part of this page is gone. */
export class Broken extends Component<Props, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <div className="state failure" role="alert">
        <h1>This page cannot go on</h1>
        <p>The service may have been updated since it was opened. Nothing that was saved is lost.</p>
        <p className="hint">{String(error)}</p>
        <Button className="button primary" onPress={() => window.location.reload()}>
          Load it anew
        </Button>
      </div>
    )
  }
}
