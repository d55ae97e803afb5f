// SPDX-License-Identifier: MIT
// Drives every chart, link and chooser of a report as a reader does.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

/** Waits until every chart is drawn. */
export async function drawn(page) {
  await page.waitForFunction(() => [...document.querySelectorAll('.chart')].every((c) => c.dataset.drawn === 'yes'))
}

const lines_of = (path) => readFileSync(path, 'utf8').trim().split('\r\n').length - 1

/** What a CSV button offers. A busy Chromium drops one of many downloads in a row now and then, so it is clicked again. */
export async function download_of(page, button) {
  for (let left = 2; ; --left) {
    const [download] = await Promise.all([page.waitForEvent('download', { timeout: 10000 }).catch((e) => (left > 0 ? null : Promise.reject(e))), button.click()])
    if (download) return download
  }
}

/** Saves it; its number of rows. */
async function saved_rows(page, button, path) {
  const download = await download_of(page, button)
  assert.equal(download.suggestedFilename(), `${await button.getAttribute('data-csv')}.csv`)
  await download.saveAs(path)
  return lines_of(path)
}

/** Every chart: it has axes with titles, answers the mouse, and its table and CSV have the same rows. */
export async function drive_charts(page, scratch) {
  await drawn(page)
  const names = await page.locator('.chart').evaluateAll((all) => all.map((c) => c.dataset.chart))
  let answers = 0
  for (const name of names) {
    const chart = page.locator(`.chart[data-chart="${name}"]`)
    const axes = (await chart.getAttribute('data-axes')).split('|')
    assert.ok(axes.length >= 2 && axes.every((title) => title !== ''), `${name} has an axis without a title: ${axes}`)
    await chart.scrollIntoViewIfNeeded()
    const box = await chart.boundingBox()
    for (const [x, y] of [[0.6, 0.5], [0.45, 0.7], [0.8, 0.4]]) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y)
      await page.waitForTimeout(30)
    }
    answers += await chart.evaluate((c) => [...c.querySelectorAll('div')].some((d) => d.textContent !== '' && getComputedStyle(d).visibility === 'visible' && getComputedStyle(d).position === 'absolute'))
    const rows = await saved_rows(page, page.locator(`[data-csv="${name}"]`), `${scratch}/${name}.csv`)
    const figure = chart.locator('xpath=..')
    await figure.locator('summary').click()
    await figure.locator('tbody tr').first().waitFor()
    assert.equal(await figure.locator('tbody tr').count(), Math.min(rows, 400), `${name}: rows of the table`)
    await figure.locator('summary').click()
  }
  assert.ok(answers >= names.length / 2, `${answers} of ${names.length} charts answer the mouse`)
  return names
}

/** Every CSV button that is not one of these charts'. */
export async function drive_tables(page, scratch, charts) {
  const names = await page.locator('[data-csv]').evaluateAll((all) => all.map((b) => b.dataset.csv))
  assert.equal(new Set(names).size, names.length, 'two files of one name')
  for (const name of names.filter((n) => !charts.includes(n))) await saved_rows(page, page.locator(`[data-csv="${name}"]`), `${scratch}/${name}.csv`)
  return names
}

/** Every link leads to what it names: sections, and places in the source. */
export async function drive_links(page) {
  const links = page.locator('a[href^="#"]')
  for (let i = 0; i < (await links.count()); ++i) {
    const target = await links.nth(i).getAttribute('href')
    await links.nth(i).focus()
    await page.keyboard.press('Enter')
    const reached = await page.evaluate((name) => {
      const found = [...document.querySelectorAll(name)]
      const below = document.documentElement.scrollHeight - window.scrollY - window.innerHeight
      return { hash: location.hash, found: found.length, top: found[0]?.getBoundingClientRect().top, below }
    }, target)
    assert.equal(reached.hash, target)
    assert.equal(reached.found, 1, target)
    assert.ok((reached.top >= -1 && reached.top < 40) || reached.below <= 40, `${target} is at ${reached.top} after its link`)
  }
  const places = page.locator('[data-place]')
  const count = await places.count()
  for (let i = 0; i < count; ++i) {
    const place = await places.nth(i).getAttribute('data-place')
    await places.nth(i).click()
    const chosen = page.locator('#source [aria-selected=true]')
    assert.ok((await chosen.count()) > 0, `${place} chooses nothing`)
    const number = place.includes(':') ? place.slice(place.lastIndexOf(':') + 1) : place
    const pane = place.includes(':') ? 'cuda' : 'ptx'
    const numbers = await page.locator(`[data-pane=${pane}] [aria-selected=true] .code-number`).allTextContents()
    assert.ok(numbers.includes(number), `${place} chooses lines ${numbers}`)
  }
  return (await links.count()) + count
}

/** Every choice of every chooser: nothing breaks, and all charts are drawn again. */
export async function drive_choosers(page) {
  const labels = await page.locator('select').evaluateAll((all) => all.map((s) => document.querySelector(`label[for="${s.id}"]`).textContent))
  for (const [i, label] of labels.entries()) {
    const values = await page.locator('select').nth(i).locator('option').evaluateAll((all) => all.map((o) => o.value))
    const first = await page.locator('select').nth(i).inputValue()
    for (const value of [...values, first]) {
      await page.locator('select').nth(i).selectOption(value)
      await drawn(page)
      const faults = await page.evaluate(() => [...document.querySelectorAll('.chart')].filter((c) => /NaN|undefined/.test(c.innerHTML)).map((c) => c.dataset.chart))
      assert.deepEqual(faults, [], `${label} = ${value}`)
    }
    if ((await page.locator('select').count()) !== labels.length) break // the choice has changed the choosers
  }
}
