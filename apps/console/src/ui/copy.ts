import { notify } from './notices.ts'

/** Copies a text. @param what names it in the notice: `Link` */
export async function copy(what: string, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    notify('done', `${what} copied`)
  } catch {
    // Browsers have no clipboard without HTTPS, and may refuse it.
    notify('failed', `The browser did not allow copying. Select and copy it yourself: ${text}`)
  }
}
