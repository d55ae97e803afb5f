// SPDX-License-Identifier: MIT
// Power over time beside what the warps did, as drawn.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { download_of, drawn } from './drive.mjs'

const over_time = ['states_over_time', 'power_over_time', 'rates_over_time']

/** Of each chart over the run's cycles: its section, place, width, and where the labels of the axis of cycles stand in it. */
const places = (page) => page.evaluate((names) => names.map((name) => {
  const chart = document.querySelector(`[data-chart=${name}]`), box = chart.getBoundingClientRect()
  const texts = [...chart.querySelectorAll('text')].map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }))
  const title = texts.find((t) => t.text === 'cycle')
  const ticks = texts.filter((t) => /^[\d,]+$/.test(t.text) && Math.abs(t.box.bottom - title.box.top) < 12)
  return { section: chart.closest('section').id, left: box.left, top: chart.closest('figure').getBoundingClientRect().top, width: box.width,
    ticks: Object.fromEntries(ticks.map((t) => [t.text, Math.round(t.box.left - box.left)])) }
}), over_time)

/** The rows of a chart's CSV, the first of them its header. */
async function csv_of(page, name, path) {
  await (await download_of(page, page.locator(`[data-csv=${name}]`))).saveAs(path)
  return readFileSync(path, 'utf8').trim().split('\r\n').map((row) => row.split(','))
}

/** The power chart has the width, the section and the axis of cycles of its neighbours; under a cap, a curve of the clock. */
export async function power_beside_the_pipeline({ open, run, file, url, workloads }) {
  const job = join(workloads, 'reduction', 'job.json')
  run('run', job, '--quiet', '--gpu', 'gtx1080', '--set', 'energy.power_cap_watts=60', '--set', 'energy.power_cap_interval_cycles=256', '--metrics', file('p.json'), '--report', file('p.html'))
  run('run', job, '--quiet', '--gpu', 'gtx1080', '--report', file('q.html'))
  const { energy } = JSON.parse(readFileSync(file('p.json'), 'utf8'))
  assert.ok(new Set(energy.clock_mhz_over_time).size > 1, 'the cap does not act')
  for (const width of [400, 1600]) {
    const { page, complaints, close } = await open(url(file('p.html')), { viewport: { width, height: 900 } })
    await drawn(page)
    const [states, power, rates] = await places(page)
    for (const chart of [power, rates]) {
      assert.equal(chart.section, 'stalls')
      assert.equal(chart.width, states.width)
      assert.deepEqual(chart.ticks, states.ticks, `cycles at ${width}`)
    }
    assert.ok(Object.keys(states.ticks).length > 2, `ticks: ${JSON.stringify(states.ticks)}`)
    if (width === 400) assert.ok(states.left === power.left && states.top < power.top && power.top < rates.top, 'they stack')
    else assert.ok(states.top === power.top && states.left + states.width <= power.left, 'it stands beside')
    assert.equal(await page.locator('[data-chart=power_over_time]').getAttribute('data-axes'), 'cycle|power, W|core clock, MHz')
    assert.equal(await page.locator('#energy a[href="#power-over-time"]').count(), 1)
    const [header, ...rows] = await csv_of(page, 'power_over_time', file('power.csv'))
    assert.deepEqual(header, ['to cycle', 'GPU (W)', 'SMs (W)', 'core clock (MHz)'])
    assert.deepEqual(rows.map((row) => Number(row[1]) * 1000).map(Math.round), energy.milliwatts_over_time)
    assert.deepEqual(rows.map((row) => Number(row[3])), energy.clock_mhz_over_time)
    assert.deepEqual(complaints, [])
    await close()
  }
  const { page, close } = await open(url(file('q.html')), { viewport: { width: 1600, height: 900 } })
  await drawn(page)
  assert.equal(await page.locator('[data-chart=power_over_time]').getAttribute('data-axes'), 'cycle|power, W')
  // A mouse over one chart shows the cycle in the others.
  await page.locator('[data-chart=states_over_time]').scrollIntoViewIfNeeded()
  const box = await page.locator('[data-chart=states_over_time]').boundingBox()
  await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.6)
  await page.locator('[data-chart=power_over_time] div', { hasText: 'SMs' }).first().waitFor()
  await close()
}
