import type { Command, Option } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The completions of one command. */
interface Node {
  /** `users list`; empty for the program. */
  path: string
  words: { word: string; text: string }[]
  /** Values by flag. */
  values: { flag: string; choices: string[] }[]
}

/** The completion script of a shell, generated from the commands. */
export function completionScript(program: Command, shell: (typeof SHELLS)[number]): string {
  const nodes = nodesOf(program, '', [...program.options])
  if (shell === 'fish') return fish(program.name(), nodes)
  return shell === 'bash' ? bash(program.name(), nodes) : zsh(program.name(), nodes)
}

function nodesOf(command: Command, path: string, globals: Option[]): Node[] {
  const children = command.commands.filter((child) => child.name() !== 'help')
  const options = (path === '' ? globals : [...command.options, ...globals]).filter(({ hidden }) => !hidden)
  const choices = command.registeredArguments.flatMap((argument) => argument.argChoices ?? [])
  const node: Node = {
    path,
    words: [
      ...children.map((child) => ({ word: child.name(), text: child.summary() || child.description() })),
      ...choices.map((word) => ({ word, text: '' })),
      ...options.map((option) => ({ word: option.long ?? '', text: option.description })),
      { word: '--help', text: 'show help' },
    ],
    values: options.flatMap(({ long, argChoices }) =>
      long && argChoices ? [{ flag: long, choices: argChoices }] : [],
    ),
  }
  return [node, ...children.flatMap((child) => nodesOf(child, `${path} ${child.name()}`.trim(), globals))]
}

const alternatives = (paths: string[]) => paths.map((path) => `'${path}'`).join('|')

function bash(name: string, nodes: Node[]): string {
  return `# ${name}: bash completion. eval "$(${name} completion bash)"
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${walk(nodes)}
  done
  case "$path $previous" in
${nodes.flatMap(({ path, values }) => values.map(({ flag, choices }) => `    '${path} ${flag}') COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`)).join('\n')}
  esac
  case "$path" in
${nodes.map(({ path, words }) => `    '${path}') COMPREPLY=($(compgen -W '${words.map(({ word }) => word).join(' ')}' -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _${name} ${name}
`
}

function zsh(name: string, nodes: Node[]): string {
  return `#compdef ${name}
# ${name}: zsh completion. source <(${name} completion zsh)
_${name}() {
  local previous=\${words[CURRENT-1]} path_='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
${walk(nodes, 'path_')}
  done
  case "$path_ $previous" in
${nodes.flatMap(({ path, values }) => values.map(({ flag, choices }) => `    '${path} ${flag}') compadd -- ${choices.join(' ')}; return ;;`)).join('\n')}
  esac
  case "$path_" in
${nodes.map(({ path, words }) => `    '${path}') compadd -- ${words.map(({ word }) => word).join(' ')} ;;`).join('\n')}
  esac
  [[ "$path_" == (import|export) ]] && _files
}
compdef _${name} ${name}
`
}

/** Shell lines that find the current command from the words typed so far. */
function walk(nodes: Node[], variable = 'path'): string {
  const steps = nodes.filter(({ path }) => path !== '').map(({ path }) => (path.includes(' ') ? path : ` ${path}`))
  return `    case "$${variable} $word" in
      ${alternatives(steps)}) ${variable}="\${${variable}:+$${variable} }$word" ;;
    esac`
}

function fish(name: string, nodes: Node[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const commands = nodes.flatMap(({ path, words, values }) => {
    const first = path.split(' ')
    const condition = `-n ${quote(`__${name}_at ${path === '' ? '' : first.join(' ')}`.trim())}`
    return words.map(({ word, text }) => {
      if (!word.startsWith('--')) return `complete -c ${name} -f ${condition} -a ${quote(word)} -d ${quote(text)}`
      const choices = values.find(({ flag }) => flag === word)?.choices
      const values_ = choices ? ` -x -a ${quote(choices.join(' '))}` : ''
      return `complete -c ${name} ${condition} -l ${word.slice(2)}${values_} -d ${quote(text)}`
    })
  })
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quote(path))
  return `# ${name}: fish completion. ${name} completion fish | source
function __${name}_at
  set -l path
  for word in (commandline -opc)[2..-1]
    if contains -- (string join -- ' ' $path $word) ${paths.join(' ')}
      set -a path $word
    end
  end
  test "$path" = "$argv"
end
${commands.join('\n')}
`
}
