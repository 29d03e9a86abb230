# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Compares two pictures of a page, in the browser that has taken them."""

import base64

# Other browsers blend the edges of lines and letters a little differently. So a
# pixel is as expected if each of its channels is within the range of those at and
# around it in the other picture, or not further outside than this.
MAX_DEVIATION = 32

# In a square of this many pixels each way, fewer than these may be different. A
# swatch of a legend has 56 pixels, a line that crosses a square 32.
CELL = 16
MIN_DIFFERENT_PIXELS = 12

# A function of two pictures (base64) that returns the number of squares in which
# they differ, and a picture of the second one with these marked. If they differ
# in size, it returns the sizes.
_COMPARE = f"""(async (expected, actual) => {{
  const pixelsOf = async text => {{
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, bitmap.width, bitmap.height);
  }};
  const a = await pixelsOf(expected);
  const b = await pixelsOf(actual);
  const {{width, height}} = b;
  if (a.width !== width || a.height !== height) {{
    return {{sizes: `${{width}} x ${{height}} instead of ${{a.width}} x ${{a.height}}`}};
  }}
  const isWithin = (x, y, pixel, others) => [0, 1, 2].every(channel => {{
    let least = 255;
    let most = 0;
    for (let v = Math.max(0, y - 1); v <= Math.min(height - 1, y + 1); ++v) {{
      for (let u = Math.max(0, x - 1); u <= Math.min(width - 1, x + 1); ++u) {{
        const value = others.data[4 * (v * width + u) + channel];
        least = Math.min(least, value);
        most = Math.max(most, value);
      }}
    }}
    const value = pixel.data[4 * (y * width + x) + channel];
    return value >= least - {MAX_DEVIATION} && value <= most + {MAX_DEVIATION};
  }});
  const cells = new Map();
  for (let y = 0; y < height; ++y) {{
    for (let x = 0; x < width; ++x) {{
      if (isWithin(x, y, a, b) && isWithin(x, y, b, a)) continue;
      const cell = `${{Math.floor(x / {CELL})}} ${{Math.floor(y / {CELL})}}`;
      cells.set(cell, (cells.get(cell) ?? 0) + 1);
    }}
  }}
  const marked = [...cells].filter(([, count]) => count >= {MIN_DIFFERENT_PIXELS})
      .map(([cell]) => cell.split(' ').map(Number));
  if (marked.length === 0) return {{cells: 0}};
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  context.putImageData(b, 0, 0);
  context.fillStyle = 'rgba(255, 0, 0, 0.4)';
  for (const [x, y] of marked) context.fillRect({CELL} * x, {CELL} * y, {CELL}, {CELL});
  const blob = await canvas.convertToBlob();
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return {{
    cells: marked.length,
    picture: btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join('')),
  }};
}})"""


class Difference:
    """How a picture (PNG) differs from the expected one: `text` in words, empty
    if they are alike, and `picture`, which marks where, if they have one size."""

    def __init__(self, page, expected, actual):
        """page: any page, in which the pictures are compared."""
        arguments = ", ".join(
            f"'{base64.b64encode(picture).decode()}'"
            for picture in (expected, actual)
        )
        found = page.evaluate(f"{_COMPARE}({arguments})")
        self.picture = base64.b64decode(found.get("picture", ""))
        if "sizes" in found:
            self.text = f"its size is {found['sizes']}"
        elif found["cells"] > 0:
            self.text = f"{found['cells']} squares of it differ"
        else:
            self.text = ""
