// SPDX-License-Identifier: MIT
// Power over time beside what the warps did, and the Pareto front of a sweep over the core clock, as drawn.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
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
  const { energy, kernels } = JSON.parse(readFileSync(file('p.json'), 'utf8'))
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
    const [parts, ...of_units] = await csv_of(page, 'energy_by_unit', file('units.csv'))
    assert.deepEqual(parts, ['part', 'joules', 'watts', 'share'])
    const watts = of_units.reduce((all, row) => all + Number(row[2]), 0)
    assert.ok(Math.abs(watts / kernels[0].energy.mean_watts - 1) < 0.01, `${watts} W, not ${kernels[0].energy.mean_watts}`)
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

/** The drawn front in pixels: its vertices, of which each second is a corner, and the boxes of names. */
const front_of = (page) => page.evaluate(() => {
  const chart = document.querySelector('[data-chart=pareto]'), accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()
  const lines = [...chart.querySelectorAll('path')].filter((p) => p.getAttribute('fill') === 'none' && p.getAttribute('stroke') === accent)
  const line = lines.reduce((a, b) => (b.getAttribute('d').length > a.getAttribute('d').length ? b : a))   // not the legend's
  const numbers = line.getAttribute('d').match(/-?[\d.]+/g).map(Number)
  const vertices = Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i], numbers[2 * i + 1]])
  const names = [...chart.querySelectorAll('text')].filter((t) => /^\d+, /.test(t.textContent) && t.getBoundingClientRect().left > 0).map((t) => ({ text: t.textContent, ...t.getBoundingClientRect().toJSON() }))
  const box = chart.getBoundingClientRect(), outside = [...chart.querySelectorAll('path')].map((p) => p.getBoundingClientRect()).filter((r) => r.width > 0 && (r.left < box.left - 1 || r.top < box.top - 1 || r.right > box.right + 1))
  return { vertices, names, outside: outside.length }
})

/** Of a drawn staircase: each corner is worse than a point of the front, and better than none. */
function check_corners(vertices, x_more, y_more) {
  const better = (a, b, more) => (more ? a >= b - 0.01 : a <= b + 0.01)
  const beats = (a, b) => better(a[0], b[0], x_more) && better(-a[1], -b[1], y_more)   // pixels go down
  const points = vertices.filter((_, i) => i % 2 === 0), corners = vertices.filter((_, i) => i % 2 === 1)
  assert.ok(corners.length > 0)
  for (const corner of corners) {
    assert.ok(points.some((p) => beats(p, corner)), `no point is as good as ${corner}`)
    assert.ok(!points.some((p) => beats(corner, p)), `${corner} beats a point that was run: ${JSON.stringify(vertices)}`)
  }
}

const chooser = (page, label, nth = 0) => page.locator('#pareto-front').getByLabel(label, { exact: true }).nth(nth)
const chosen = (page, label) => chooser(page, label).evaluate((s) => s.selectedOptions[0].textContent)

/** No name is over another. */
function check_names(names, width) {
  for (const [i, a] of names.entries())
    for (const b of names.slice(0, i))
      assert.ok(a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1, `${a.text} over ${b.text} at ${width}`)
}

/** The page of a sweep, with `count` points on the sides of a rhombus in place of its own: each choice of what is better has a front. */
function rhombus(page, count) {
  return page.replace(/(id="heddle-data">)([^]*?)(<\/script>)/, (_, begin, text, end) => {
    const data = JSON.parse(text), [sweep] = data.sweeps, side = count / 4
    const at = (i) => {
      const t = ((i % side) + 0.25) / side   // no two are as good in one metric
      return [[1 - t, t], [-t, 1 - t], [t - 1, -t], [t, t - 1]][Math.floor(i / side)]
    }
    sweep.metrics = ['energy.seconds', 'energy.total_joules']
    sweep.points = Array.from({ length: count }, (_, i) => ({ ...sweep.points[0], position: i, axes: ['h100', 1000 + i, i === 0 ? 0.6 : 0.43], values: [2 + at(i)[0], 3 + at(i)[1]] }))
    return begin + JSON.stringify(data).replaceAll('<', '\\u003c') + end
  })
}

/** Fronts in all four directions; of more than 12 points, those with room have names. */
async function fronts_of_a_rhombus({ open, file, url }) {
  const page_text = readFileSync(file('clocks.html'), 'utf8')
  for (const count of [32, 120]) {
    writeFileSync(file('rhombus.html'), rhombus(page_text, count))
    for (const width of [400, 1280]) {
      const { page, complaints, close } = await open(url(file('rhombus.html')), { viewport: { width, height: 900 } })
      for (const x_more of [0, 1])
        for (const y_more of [0, 1]) {
          await chooser(page, 'where', 0).selectOption(String(x_more))
          await chooser(page, 'where', 1).selectOption(String(y_more))
          await drawn(page)
          const rows = (await csv_of(page, 'pareto', file('front.csv'))).length - 1
          assert.ok(Math.abs(rows - count / 4) <= 1, `${rows} points in a quarter`)
          const { vertices, names, outside } = await front_of(page)
          assert.equal(outside, 0, 'lines that leave the chart')
          assert.equal(vertices.length, 2 * rows - 1)
          check_corners(vertices, x_more === 1, y_more === 1)
          check_names(names, width)
          assert.ok(rows <= 12 ? names.length === rows : names.length > 4, `${names.length} names of ${rows} at ${width}`)
        }
      assert.deepEqual(complaints, [])
      await close()
    }
  }
}

/** First metrics of a sweep, and places of names, with known answers. */
async function known_answers(page) {
  const first = (...words) => page.evaluate((w) => heddle.first_metrics(...w), words)
  const all = ['cycles', 'kernels.0.metrics.ipc', 'energy.seconds', 'energy.total_joules', 'kernels.0.energy.seconds', 'kernels.0.energy.total_joules']
  const at = (mhz) => [1000, 2, 1000 / mhz, 5, 900 / mhz, 4]
  assert.deepEqual(await first(all, [at(1000), at(1000)], ['launch.block']), [0, 1])
  assert.deepEqual(await first(all, [at(1000), at(1200)], ['launch.block']), [2, 3], 'times tell of clocks')
  assert.deepEqual(await first(all, [at(1000), at(1000)], ['gpu.core_clock_mhz']), [2, 3], 'axes tell of clocks')
  assert.deepEqual(await first(['kernels.0.energy.total_joules', 'cycles', 'kernels.0.energy.seconds'], [[1, 1, 1]], ['gpu']), [2, 0])
  assert.deepEqual(await first(['cycles', 'kernels.0.metrics.ipc'], [[1, 1]], ['gpu.core_clock_mhz']), [0, 1], 'no time is known')
  const places = await page.evaluate(() => {
    const box = { x: 0, y: 0, width: 300, height: 200 }, taken = []
    for (let i = 0; i < 12; ++i) taken.push(heddle.free_place([150, 100], [60, 14], taken, box, [-1, 1], Infinity))
    return [taken, heddle.free_place([150, 100], [60, 14], [box], box, [-1, 1], Infinity), heddle.free_place([150, 100], [60, 14], taken, box, [-1, 1], 5)]
  })
  for (const [i, a] of places[0].entries()) {
    assert.ok(a.x >= 0 && a.x + a.width <= 300 && a.y >= 0 && a.y + a.height <= 200, 'in the box')
    for (const b of places[0].slice(0, i)) assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y, 'one over another')
  }
  assert.deepEqual(places.slice(1), [null, null])
}

/** A sweep over the clock without a list of metrics: time against energy, named points, a line through what is attainable. */
export async function front_over_the_clock({ open, run, file, url, workloads }) {
  const sweep = (name, workload, axes) => {
    writeFileSync(file(`${name}.ini`), `[sweep]\njob = ${join(workloads, workload, 'job.json')}\nstore = ${file(`${name}.sqlite`)}\n[axes]\n${axes}`)
    run('sweep', file(`${name}.ini`), '--quiet')
    run('report', file(`${name}.sqlite`), '-o', file(`${name}.html`))
  }
  sweep('clocks', 'sgemm', 'gpu = v100\ngpu.core_clock_mhz = 1300, 1600, 1980\nenergy.volts_per_ghz = 0.43, 0.6\n')
  sweep('schedulers', 'saxpy', 'sub_partition.scheduler = lrr, gto\n')
  for (const width of [400, 1280]) {
    const { page, complaints, close } = await open(url(file('clocks.html')), { viewport: { width, height: 900 } })
    await drawn(page)
    assert.deepEqual([await chosen(page, 'Across'), await chosen(page, 'Up')], ['energy.seconds (whole job)', 'energy.total_joules (whole job)'])
    assert.equal(await page.locator('#metrics-over-axes select').first().evaluate((s) => s.selectedOptions[0].textContent), 'energy.seconds (whole job)')
    const { vertices, names } = await front_of(page)
    check_corners(vertices, false, false)
    check_names(names, width)
    assert.equal(names.length, (await csv_of(page, 'pareto', file('front.csv'))).length - 1)
    assert.deepEqual(complaints, [])
    await close()
  }
  const { page, close } = await open(url(file('schedulers.html')), { viewport: { width: 1280, height: 900 } })
  await drawn(page)
  assert.equal(await chosen(page, 'Across'), 'cycles (whole job)')
  await known_answers(page)
  await close()
  await fronts_of_a_rhombus({ open, file, url })
}
