for (const code of document.querySelectorAll('pre code')) {
  code.textContent = code.textContent.replace('http://localhost:3000', location.origin)
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await copy(code)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  code.closest('figure').querySelector('figcaption').append(button)
}

async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent)
  } catch {
    // Browsers have no clipboard for pages without TLS, except from this machine.
    getSelection().selectAllChildren(code)
    document.execCommand('copy')
  }
}
