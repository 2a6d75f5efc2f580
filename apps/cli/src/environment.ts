import { homedir } from 'node:os'
import { join } from 'node:path'

// The only place that reads the environment, except for the variables of options (globals.ts).
const { env, platform } = process

/** The folder of the user's settings. */
export function configFolder(): string {
  return join(env.XDG_CONFIG_HOME || (platform === 'win32' && env.APPDATA) || join(homedir(), '.config'), 'resource')
}

/** The folder of what the command line remembers between runs. */
export function stateFolder(): string {
  const base = (platform === 'win32' && env.LOCALAPPDATA) || join(homedir(), '.local', 'state')
  return join(env.XDG_STATE_HOME || base, 'resource')
}

/** The user's text editor, with arguments. */
export function editorCommand(): string {
  return env.VISUAL || env.EDITOR || (platform === 'win32' ? 'notepad' : 'vi')
}

/** The program in `$BROWSER`; undefined for the default browser of the system. */
export function browserProgram(): string | undefined {
  return env.BROWSER || undefined
}
