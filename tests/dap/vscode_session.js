// A session of the test client of VS Code's project, which starts the adapter itself.
// Arguments: the command gradstep, and the program.
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const path = require("path");

const [gradstep, program] = process.argv.slice(2);

async function debug(client) {
  const location = { path: program, line: 5, verified: false };
  await client.start();
  await client.hitBreakpoint({ program, stopOnEntry: false }, location);
  const { threads } = (await client.threadsRequest()).body;
  const threadId = threads[0].id;
  const { stackFrames } = (await client.stackTraceRequest({ threadId, levels: 20 })).body;
  for (const { name, source, line } of stackFrames) {
    console.log(`${name} ${source.name}:${line}`);
  }
  const { scopes } = (await client.scopesRequest({ frameId: stackFrames[0].id })).body;
  for (const { name, variablesReference } of scopes) {
    const { variables } = (await client.variablesRequest({ variablesReference })).body;
    console.log(name, variables.map((each) => `${each.name} = ${each.value}`).join("; "));
  }
  for (const step of ["next", "stepIn", "stepBack", "reverseContinue"]) {
    const [stop] = await Promise.all([
      client.waitForEvent("stopped"),
      client[`${step}Request`]({ threadId }),
    ]);
    console.log(step, stop.body.reason);
  }
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await Promise.all([
    client.waitForEvent("terminated"),
    client.assertOutput("stdout", "grad"),
    client.continueRequest({ threadId }),
  ]);
  await client.stop();
}

const client = new DebugClient(gradstep, "dap", "gradstep", { cwd: path.dirname(program) });
client.defaultTimeout = 300000; // as in tests/waiting.py
debug(client).catch((error) => {
  console.error(error);
  client.stopAdapter();
  process.exitCode = 1;
});
