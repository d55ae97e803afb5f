// SPDX-License-Identifier: MIT
// The report and speedscope as Playwright sees them, beside the tests in C++ (tests/system/views/report_page_test.cpp, speedscope_test.cpp): real clicks, keys and downloads.
// node page.mjs FOLDER_OF_NODE_MODULES HEDDLE WORKLOADS SCRATCH PART...; 77: there is no Playwright, or no browser for it
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { drawn, drive_charts, drive_choosers, drive_links, drive_tables } from './drive.mjs'
import { front_over_the_clock, power_beside_the_pipeline } from './energy.mjs'
import { a_thousand_launches, compared_runs, source_side_by_side } from './source.mjs'

const [modules, heddle, workloads, scratch, ...chosen] = process.argv.slice(2)
const browsers = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const browser_program = process.env.HEDDLE_BROWSER ??
  browsers.flatMap((name) => process.env.PATH.split(delimiter).map((folder) => join(folder, name))).find((path) => existsSync(path))
if (!browser_program || !existsSync(join(modules, 'node_modules', 'playwright-core'))) {
  console.log('skipped: no browser (chromium-headless-shell), or no Playwright (./dev viewers)')
  process.exit(77)
}
const { chromium } = createRequire(join(resolve(modules), 'package.json'))('playwright-core')

rmSync(scratch, { recursive: true, force: true })
mkdirSync(scratch, { recursive: true })
const file = (name) => join(scratch, name)
const run = (...words) => execFileSync(heddle, words, { stdio: ['ignore', 'ignore', 'inherit'] })
const url = (name) => pathToFileURL(resolve(name)).href

const browser = await chromium.launch({ executablePath: browser_program, args: ['--no-sandbox'] })

/** A page that must say nothing to its console and send no request. */
async function open(address, options) {
  const context = await browser.newContext({ acceptDownloads: true, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)   // of a busy machine; nothing is timed here
  const complaints = []
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && complaints.push(m.text()))
  page.on('pageerror', (e) => complaints.push(String(e)))
  page.on('request', (r) => /^(file|blob|data):/.test(r.url()) || complaints.push(`asks for ${r.url()}`))
  await page.goto(address)
  return { page, complaints, close: () => context.close() }
}

async function report() {
  run('run', join(workloads, 'reduction', 'job.json'), '--quiet', '--metrics', file('m.json'), '--report', file('r.html'))
  const metrics = JSON.parse(readFileSync(file('m.json'), 'utf8'))
  for (const width of [400, 1600])
    for (const colorScheme of ['light', 'dark']) {
      const { page, complaints, close } = await open(url(file('r.html')), { viewport: { width, height: 900 }, colorScheme })
      const charts = page.locator('.chart')
      await drawn(page)
      const shown = await charts.evaluateAll((all) => all.map((c) => [c.dataset.chart, c.dataset.drawn, c.querySelectorAll('path').length + c.querySelectorAll('canvas').length]))
      assert.ok(shown.length >= 10, `${shown.length} charts`)
      for (const [name, state, marks] of shown) assert.ok(state === 'yes' && marks > 0, `${name} is not drawn at ${width} ${colorScheme}`)
      const room = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth])
      assert.ok(room[0] <= room[1], `wider than ${width}`)
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme)
      assert.equal(await page.locator('main section').first().getAttribute('id'), 'verdict')
      assert.deepEqual(complaints, [])
      await close()
    }
  const { page, complaints, close } = await open(url(file('r.html')), { viewport: { width: 1600, height: 900 } })
  // Each kernel, chosen as a reader does: its own figures are drawn.
  for (const [k, kernel] of metrics.kernels.entries()) {
    await page.getByLabel('Kernel', { exact: true }).selectOption(String(k))
    const share = `${(100 * kernel.metrics.achieved_occupancy).toFixed(1)} %`
    await page.locator('[data-chart=occupancy] text', { hasText: share }).first().waitFor()
  }
  // What a button saves holds as many rows as its chart's table.
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('[data-csv=speed_of_light]').click()])
  assert.equal(download.suggestedFilename(), 'speed_of_light.csv')
  await download.saveAs(file('speed_of_light.csv'))
  const rows = readFileSync(file('speed_of_light.csv'), 'utf8').trim().split('\r\n').length - 1
  await page.locator('[data-chart=speed_of_light] ~ details summary').click()
  const shown = page.locator('[data-chart=speed_of_light] ~ details tbody tr')
  await shown.first().waitFor()   // the table is made when it is opened
  assert.equal(await shown.count(), rows)
  await page.keyboard.press('Tab')
  assert.notEqual(await page.evaluate(() => document.activeElement.tagName), 'BODY')
  assert.deepEqual(complaints, [])
  await page.screenshot({ path: file('report.png'), fullPage: true })
  await close()
}

async function comparison() {
  run('run', join(workloads, 'saxpy', 'job.json'), '--quiet', '--metrics', file('a.json'))
  run('run', join(workloads, 'saxpy', 'job.json'), '--quiet', '--set', 'sub_partition.scheduler=lrr', '--metrics', file('b.json'))
  run('report', file('a.json'), file('b.json'), '-o', file('two.html'))
  const { page, complaints, close } = await open(url(file('two.html')), { viewport: { width: 1600, height: 900 } })
  await page.locator('[data-chart=compared_states][data-drawn=yes]').waitFor()
  const cycles = ['a.json', 'b.json'].map((name) => JSON.parse(readFileSync(file(name), 'utf8')).kernels[0].cycles)
  const text = await page.locator('main').innerText()
  for (const n of cycles) assert.ok(text.includes(n.toLocaleString('en-US')), `${n} cycles are not shown`)
  assert.ok(text.includes('sub_partition.scheduler'), 'the difference of the two configurations is not shown')
  assert.deepEqual(complaints, [])
  await close()
}

async function timeline() {
  const viewer = join(modules, 'node_modules', 'speedscope', 'dist', 'release', 'index.html')
  run('run', join(workloads, 'saxpy', 'job.json'), '--quiet', '--timeline', file('t.json'))
  const { page, complaints, close } = await open(url(viewer), { viewport: { width: 1200, height: 700 } })
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByText('Browse', { exact: false }).last().click()])
  await chooser.setFiles(file('t.json'))
  await page.waitForFunction(() => document.title.startsWith('t.json') && document.querySelectorAll('canvas').length > 1)
  assert.deepEqual(complaints.filter((c) => !/GPU|WebGL|GL Driver/.test(c)), [])   // how a machine without a graphics card draws is the browser's concern
  await page.screenshot({ path: file('timeline.png') })
  await close()
}

/** The page of a sweep, driven as a whole: its charts begin at 0 until the reader cuts them. */
async function sweep() {
  writeFileSync(file('s.ini'), `[sweep]\njob = ${resolve(workloads, 'saxpy', 'job.json')}\nstore = ${resolve(file('s.sqlite'))}\nmetrics = cycles, kernels.0.metrics.ipc\n[axes]\nsub_partition.scheduler = lrr, gto\nl1.size_bytes = 16384, 24576\n`)
  run('sweep', file('s.ini'))
  run('report', file('s.sqlite'), '-o', file('s.html'))
  const { page, complaints, close } = await open(url(file('s.html')), { viewport: { width: 1280, height: 900 } })
  const charts = await drive_charts(page, scratch)
  assert.deepEqual(charts, ['metric_over_axis', 'sensitivity', 'pareto'])
  const labels = () => page.locator('[data-chart=metric_over_axis] text').allTextContents()
  assert.ok((await labels()).includes('0'), `the axis of cycles does not begin at 0: ${await labels()}`)
  await drive_tables(page, scratch, charts)
  await drive_links(page)
  await drive_choosers(page)
  assert.deepEqual(complaints, [])
  await close()
}

const tools = { open, run, file: (name) => resolve(file(name)), url, workloads: resolve(workloads), folder: join(fileURLToPath(new URL('.', import.meta.url)), 'six_kernels') }
const parts = {
  report,
  comparison,
  sweep,
  power: () => power_beside_the_pipeline(tools),
  front: () => front_over_the_clock(tools),
  source: () => source_side_by_side(tools),
  compared: () => compared_runs(tools),
  many: () => a_thousand_launches(tools),
  many_in_time: () => a_thousand_launches(tools, 1),
  timeline,
}
assert.ok(chosen.length > 0 && chosen.every((name) => name in parts), `expected some of ${Object.keys(parts)}`)
try {
  for (const name of chosen) await parts[name]()
} finally {
  await browser.close()
}
console.log(`${chosen} drawn as measured`)
