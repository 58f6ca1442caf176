// Starts `gradstep dap` with the Python of a launch configuration, or the one chosen in VS Code.
const vscode = require("vscode");

async function chosenPython(folder) {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (python !== undefined) {
    const { environments } = python.isActive ? python.exports : await python.activate();
    const { path } = environments.getActiveEnvironmentPath(folder?.uri);
    const known = await environments.resolveEnvironment(path);
    if (known?.executable.uri !== undefined) {
      return known.executable.uri.fsPath;
    }
  }
  return process.platform === "win32" ? "python" : "python3";
}

class Configurations {
  // Without launch.json, F5 debugs the file in view.
  resolveDebugConfiguration(folder, configuration) {
    if (configuration.type !== undefined) {
      return configuration;
    }
    return { name: "backward()", type: "gradstep", request: "launch", program: "${file}" };
  }

  async resolveDebugConfigurationWithSubstitutedVariables(folder, configuration) {
    if (configuration.debugServer !== undefined) {
      return configuration; // what serves on a port has a folder and a Python of its own
    }
    return {
      ...configuration,
      cwd: configuration.cwd ?? folder?.uri.fsPath,
      python: configuration.python ?? (await chosenPython(folder)),
    };
  }
}

class Adapters {
  createDebugAdapterDescriptor(session) {
    const { python, cwd } = session.configuration;
    return new vscode.DebugAdapterExecutable(python, ["-m", "gradstep", "dap"], { cwd });
  }
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider("gradstep", new Configurations()),
    vscode.debug.registerDebugAdapterDescriptorFactory("gradstep", new Adapters()),
  );
};
