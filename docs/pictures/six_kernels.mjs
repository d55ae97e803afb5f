// SPDX-License-Identifier: MIT
// Takes the pictures of docs/use/report_tour.md: docs/pictures/six_kernels.sh calls it.
// node six_kernels.mjs FOLDER_OF_NODE_MODULES BROWSER REPORT.html FOLDER
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [modules, program, report, folder] = process.argv.slice(2)
const { chromium } = createRequire(join(resolve(modules), 'package.json'))('playwright-core')
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--force-color-profile=srgb'] })

async function open(width, kernel, against) {
  const page = await browser.newPage({ viewport: { width, height: 900 } })
  await page.goto(pathToFileURL(resolve(report)).href)
  const choose = async (label, name) => {
    const chooser = page.getByLabel(label, { exact: true })
    const options = await chooser.locator('option').allTextContents()
    await chooser.selectOption(String(options.findIndex((o) => o.startsWith(name))))
  }
  await choose('Kernel', kernel)
  if (against) await choose('Compare with', against)
  await page.waitForFunction(() => [...document.querySelectorAll('.chart')].every((c) => c.dataset.drawn === 'yes'))
  return page
}

async function take(page, what, name) {
  await page.locator(what).screenshot({ path: join(folder, `${name}.png`) })
  await page.close()
  console.log(`docs/pictures/${name}.png`)
}

for (const kernel of ['transpose_naive', 'transpose_tuned', 'reduction_naive', 'reduction_tuned', 'sgemm_naive', 'sgemm_tuned'])
  await take(await open(1180, kernel), '#source', `six_${kernel}`)
await take(await open(1180, 'transpose_tuned', 'transpose_naive'), '#what-changed', 'six_what_changed')
await take(await open(1180, 'sgemm_tuned'), '#speed-of-light', 'six_roofline')
await take(await open(400, 'reduction_tuned'), '#source', 'six_narrow')
await browser.close()
