// Draw every formula. What KaTeX cannot read stays as it is, in red, and the check of the site finds it.
document.addEventListener('DOMContentLoaded', () => {
  for (const place of document.querySelectorAll('.formula')) {
    const displayMode = place.tagName === 'DIV';
    katex.render(place.textContent, place, { displayMode, throwOnError: false });
  }
});
