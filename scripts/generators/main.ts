// Tests the clients that a code generator for each of four languages produces from the service's OpenAPI document: they compile,
// and a program per generator makes the same calls with them to the real service. A generator without its tools is NOT CHECKED.
import { cp, mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createTestServer } from '../../apps/server/src/testing/testing.ts'
import { createVenv, download, execute, installModules, makeChecks, requireTool } from '../external-checks.ts'
import { environment, root } from '../run-command.mjs'

interface Generator {
  name: string
  /** Each with an argument that makes the tool exit at once. */
  tools: [command: string, argument: string][]
  /** Returns the output of the program. `folder` contains only the document, `openapi.json`. */
  check: (folder: string, url: string) => Promise<string>
}

const OPENAPI_GENERATOR = '7.17.0'
const PYTHON_CLIENT = '0.29.1'
const OAPI_CODEGEN = 'v2.8.2'
// Each virtual machine runs for seconds only: the second compiler and the parallel collector cost more than they save.
const JAVA = { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' }
const chosen = process.argv.slice(2)

const programs = join(import.meta.dirname, 'programs')
const cache = join(root, 'node_modules', '.cache', 'generators')

const generators: Generator[] = [
  {
    name: 'openapi-generator, Java',
    tools: [
      ['java', '-version'],
      ['javac', '-version'],
      ['mvn', '--version'],
    ],
    check: async (folder, url) => {
      const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
      await maven('dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${cache}`)
      const jar = join(cache, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)
      const parts = ['apiDocs', 'apiTests', 'modelDocs', 'modelTests'].map((part) => `${part}=false`).join()
      const names = ['--package-name', 'generated', '--global-property', parts]
      const options = ['-g', 'java', '--library', 'native', '-i', 'openapi.json', '-o', 'generated']
      await execute('java', ['-jar', jar, 'generate', ...options, ...names], folder, JAVA)
      const pom = join(folder, 'generated', 'pom.xml')
      const libraries = join(folder, 'libraries')
      await maven('--file', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${libraries}`)
      const path = ['--class-path', join(libraries, '*')]
      const source = join(folder, 'generated', 'src', 'main', 'java')
      const compile = ['-nowarn', '-d', 'classes', ...path, '--source-path', source, join(programs, 'Native.java')]
      await execute('javac', compile, folder, JAVA)
      return execute('java', ['--class-path', `classes:${join(libraries, '*')}`, 'Native', url], folder, JAVA)
    },
  },
  {
    name: 'openapi-typescript and openapi-fetch',
    tools: [['npm', '--version']],
    check: async (folder, url) => {
      // The generator runs only with TypeScript 5.
      const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3']
      const modules = await installModules(join(cache, 'npm'), ...packages)
      await symlink(modules, join(folder, 'node_modules'))
      // By default it requires the fields of a body that have a default.
      const options = ['--default-non-nullable', 'false', '--output', 'generated/types.ts']
      await execute(join(modules, '.bin', 'openapi-typescript'), ['openapi.json', ...options], folder)
      return runTypeScript(folder, 'openapi-fetch.ts', url)
    },
  },
  {
    name: 'openapi-python-client',
    tools: [['python3', '--version']],
    check: async (folder, url) => {
      const python = await createVenv(
        join(cache, 'venv-openapi-python-client'),
        `openapi-python-client==${PYTHON_CLIENT}`,
        'ruff',
      )
      // It formats the client with ruff, which it looks for in PATH.
      const env = { PATH: `${dirname(python)}:${environment.PATH}` }
      const options = ['--path', 'openapi.json', '--output-path', 'generated', '--meta', 'none', '--fail-on-warning']
      await execute('openapi-python-client', ['generate', ...options], folder, env)
      await cp(join(programs, 'openapi_python_client.py'), join(folder, 'main.py'))
      return execute(python, ['main.py', url], folder)
    },
  },
  {
    name: 'oapi-codegen',
    tools: [['go', 'version']],
    check: async (folder, url) => {
      // It reads only OpenAPI 3.0.
      const document = await fetch(`${url}/openapi-3.0.json`)
      await writeFile(join(folder, 'openapi.json'), await document.text())
      await writeFile(join(folder, 'go.mod'), 'module example.com/client\n\ngo 1.23\n')
      await cp(join(programs, 'oapi_codegen.go'), join(folder, 'main.go'))
      await mkdir(join(folder, 'generated'))
      const tool = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`
      await download('go', ['install', tool], cache, { GOBIN: cache })
      const output = join('generated', 'client.go')
      const options = ['-generate', 'types,client', '-package', 'generated', '-o', output, 'openapi.json']
      await execute(join(cache, 'oapi-codegen'), options, folder)
      await download('go', ['mod', 'tidy'], folder)
      await execute('go', ['build', '-o', 'program', '.'], folder)
      return execute(join(folder, 'program'), [url], folder)
    },
  },
]

await mkdir(cache, { recursive: true })
await makeChecks(
  Object.fromEntries(
    generators
      .filter(({ name }) => chosen.length === 0 || chosen.includes(name))
      .map((generator) => [generator.name, () => test(generator)]),
  ),
)

async function test({ tools, check }: Generator): Promise<void> {
  for (const [command, argument] of tools) await requireTool(command, argument)
  // Not in the cache: the TypeScript compiler does not emit sources below node_modules.
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'generators-'))
  const folder = temporary.path
  await using server = await createTestServer()
  const document = await fetch(`${server.url}/openapi.json`)
  await writeFile(join(folder, 'openapi.json'), await document.text())
  const output = (await check(folder, server.url)).trim()
  if (output !== 'ok') throw new Error(output)
}

function maven(...args: string[]): Promise<void> {
  return download('mvn', ['--quiet', '--batch-mode', ...args], cache, JAVA)
}

/** Compiles a program and the client in `folder`/generated, and runs it. */
async function runTypeScript(folder: string, program: string, url: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.iterable'],
        module: 'nodenext',
        strict: true,
        types: ['node'],
        typeRoots: [join(root, 'node_modules', '@types')],
        rootDir: '.',
        outDir: 'dist',
      },
      files: ['main.ts'],
    }),
  )
  await cp(join(programs, program), join(folder, 'main.ts'))
  await execute('tsc', ['--project', folder], folder)
  return execute('node', [join(folder, 'dist', 'main.js'), url], folder)
}
