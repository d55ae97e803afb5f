// SPDX-License-Identifier: MIT
// Builds one self-contained file that includes the hash of its sources, which a test checks.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '..', 'page.html');

// The files in the order of their names, each preceded by its name and length (tests/unit/testbench/report_test.cpp
// computes the same).
function sources_hash() {
  const files = ['index.html', 'package-lock.json', 'package.json', 'vite.config.js'];
  for (const name of readdirSync(join(here, 'src'))) files.push('src/' + name);
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = readFileSync(join(here, file));
    hash.update(`${file}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function single_file() {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(options, bundle) {
      let html,
        script = '',
        style = '';
      for (const item of Object.values(bundle)) {
        if (item.type === 'chunk') script += item.code;
        else if (item.fileName.endsWith('.css')) style += item.source;
        else if (item.fileName.endsWith('.html')) html = String(item.source);
      }
      html = html.replace(/<script[^>]*src=[^>]*><\/script>/g, '').replace(/<link[^>]*stylesheet[^>]*>/g, '');
      html = html.replace('@HEDDLE_SOURCES@', () => sources_hash());
      html = html.replace('</head>', () => `<style>${style}</style>\n</head>`);
      html = html.replace('</body>', () => `<script>${script.replace(/<\/script/gi, '<\\/script').trim()}</script>\n</body>`);
      writeFileSync(
        target,
        html
          .split('\n')
          .map((line) => line.trimEnd())
          .filter((line) => line !== '')
          .join('\n') + '\n',
      );
    },
  };
}

export default defineConfig({
  root: here,
  plugins: [single_file()],
  logLevel: 'warn',
  build: {
    outDir: join(here, 'node_modules', '.page'),
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 4000,
    rollupOptions: { output: { format: 'iife' } },
  },
});
