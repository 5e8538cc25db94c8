import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runProcess } from '../rig/process.ts';

/** About what GitHub shows a job summary in: its width, its tables. Mermaid's blocks are drawn by Mermaid, as there. */
const style = `
  body { font: 14px/1.5 "Liberation Sans", sans-serif; color: #1f2328; width: 940px; margin: 24px auto; }
  h2, h3 { border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; }
  table { display: block; border-spacing: 0; border-collapse: collapse; overflow: auto; max-width: 100%; width: max-content; }
  th, td { border: 1px solid #d1d9e0; padding: 6px 13px; }
  tr:nth-child(2n) { background: #f6f8fa; }
  code { font: 12px "DejaVu Sans Mono", monospace; background: #eff1f3; border-radius: 6px; padding: .2em .4em; }
  pre { background: #f6f8fa; border-radius: 6px; padding: 16px; overflow: auto; line-height: 1.3; }
  pre code { background: none; padding: 0; }
`;

/** GitHub Markdown as the HTML that GitHub's own parser makes of it. Needs cmark-gfm (Debian: cmark-gfm). */
export async function markdownToHtml(markdown: string): Promise<string> {
  const extensions = ['table', 'strikethrough', 'autolink', 'tagfilter'].flatMap((name) => ['-e', name]);
  const { code, stdout, stderr } = await runProcess('cmark-gfm', ['--unsafe', ...extensions], { input: markdown });
  if (code !== 0) throw new Error(`cmark-gfm failed: ${stderr}`);
  return stdout.toString();
}

/** A whole page that needs nothing from anywhere. */
export function webPage(html: string): string {
  const script = readFileSync(fileURLToPath(import.meta.resolve('mermaid/dist/mermaid.min.js')), 'utf8');
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>gallery</title><style>${style}</style></head>
<body>${html}<script>${script.replaceAll('</script', '<\\/script')}</script></body></html>`;
}
