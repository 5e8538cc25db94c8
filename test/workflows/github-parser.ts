import { registerHooks } from 'node:module';

// GitHub's package is made for bundlers: it imports JSON without saying that it is JSON.
const hooks = registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
});
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser');
const { parseAction } = await import('@actions/workflow-parser/actions/action-parser');
hooks.deregister();

/** What GitHub's own parser says against a workflow: its structure, its expressions, what its jobs need of each other. */
export async function workflowFaults(name: string, content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  // Jobs are looked at as a whole only then, and what is found is added to the same list.
  if (value !== undefined) await convertWorkflowTemplate(context, value, undefined, { errorPolicy: 1 });
  return context.errors.getErrors().map(({ message }) => message);
}

/** What it says against an action.yml. */
export function actionFaults(name: string, content: string): string[] {
  const { context } = parseAction({ name, content }, new NoOperationTraceWriter());
  return context.errors.getErrors().map(({ message }) => message);
}
