# SPDX-License-Identifier: MIT
"""The gallery: its notebooks run, and their pages say what they print."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import SOURCE, has

GALLERY = SOURCE / 'docs/gallery'
NOTEBOOKS = ('autotune_gemm', 'cache_whatif', 'occupancy_lab', 'own_policy', 'preemption_latency', 'roofline')


def make():
    """The module of docs/gallery/make.py."""
    about = importlib.util.spec_from_file_location('make', GALLERY / 'make.py')
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module


def library_is_there():
    """Whether a program can be built against the library: a compiler, SystemC, and an installed Heddle or that of this tree."""
    if not shutil.which(os.environ.get('CXX', 'c++')) or not shutil.which('pkg-config'):
        return False
    wanted = 'systemc' if (SOURCE / 'build/release/model/libheddle.a').exists() else 'heddle'
    return subprocess.run(['pkg-config', '--exists', wanted], check=False).returncode == 0


class Gallery(unittest.TestCase):
    def check(self, name):
        """Runs a notebook; its page is what is in the tree, and it has the same pictures."""
        with tempfile.TemporaryDirectory() as folder:
            said = subprocess.run([sys.executable, GALLERY / 'make.py', '--into', folder, name], text=True, capture_output=True,
                                  check=False)
            self.assertEqual(said.returncode, 0, said.stderr)
            page = Path(folder, f'{name}.md').read_text(encoding='utf-8')
            self.maxDiff = None
            self.assertEqual(page, (GALLERY / f'{name}.md').read_text(encoding='utf-8'),
                             f'the page of {name} is out of date: docs/gallery/make.py {name} writes it again')
            made = {file.name for file in Path(folder, 'pictures').iterdir()}
            kept = {file.name for file in (GALLERY / 'pictures').glob(f'{name}-*.svg')}
            self.assertEqual(made, kept)
            self.assertEqual(set(re.findall(r'\(pictures/([^)]*)\)', page)), kept)

    def test_notebooks_that_fail_have_no_page(self):
        module = make()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, 'bad.ipynb')
            for text, said in (('{', 'expected a notebook of nbformat 4'), ('{"nbformat": 3, "cells": []}', 'got nbformat 3, expected 4'),
                               ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": "1", "outputs": [1]}]}', 'stored output'),
                               ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["x = 1\\n", "x / 0"]}]}',
                                r'cell 0: ZeroDivisionError: .*cell 0:2')):
                file.write_text(text)
                with self.assertRaisesRegex(module.NotebookError, said):
                    module.page_of(file, Path(folder))
            self.assertEqual(os.listdir(folder), ['bad.ipynb'])

    def test_cells_of_notebooks_run_as_in_jupyter(self):
        names = {}
        module = make()
        self.assertEqual(module.run_cell('x = 2\nprint(x)\nx + 1', names, 'here'), '2\n3\n')
        self.assertEqual(module.run_cell('x;', names, 'here'), '')
        self.assertEqual(module.run_cell('# nothing', names, 'here'), '')

    def test_notebooks_are_valid_and_listed(self):
        self.assertEqual(sorted(file.stem for file in GALLERY.glob('*.ipynb')), sorted(NOTEBOOKS))
        index = (GALLERY / 'README.md').read_text(encoding='utf-8')
        for name in NOTEBOOKS:
            self.assertIn(f'({name}.md)', index)
            self.assertTrue(make().cells_of(GALLERY / f'{name}.ipynb'))
            if has('nbformat'):
                import nbformat
                nbformat.validate(nbformat.read(GALLERY / f'{name}.ipynb', as_version=4))
        if not has('nbformat'):
            print('skipped: the check of the notebooks by nbformat, which is not installed')


def notebook_test(name):
    @unittest.skipUnless(has('numpy') and has('matplotlib'), 'NumPy and Matplotlib are not installed')
    def test(self):
        if name == 'own_policy' and not library_is_there():
            self.skipTest('no C++ compiler, pkg-config, SystemC or library of Heddle to build a scheduling policy with')
        self.check(name)
    return test


for each in NOTEBOOKS:
    setattr(Gallery, f'test_{each}', notebook_test(each))
